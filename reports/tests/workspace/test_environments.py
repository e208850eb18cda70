"""An environment that can't measure is refused in one line that says what to do."""

import json
from importlib.metadata import version
from pathlib import Path

import pytest
from fakes.environments import answer, answering_environment, install, real_environment

from solwatch.model.errors import ExitCode, MachineError, RequestError, SolwatchError
from solwatch.workspace.environments import able_to_measure, interpreter_of, look_into, top_level_modules

WHOLE = {"torch": "2.13.0", "msgspec": "1", "numpy": "2", "pynvml": "1", "asv-runner": version("asv_runner")}


def test_what_is_no_environment_is_a_wrong_request(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder, said in (("absent", "no folder"), ("file", "no folder"), ("", "bin/python")):
        with pytest.raises(RequestError, match=said) as caught:
            look_into(tmp_path / folder, {})
        assert caught.value.exit_code == ExitCode.USAGE


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo it is gone >&2; exit 7", "exit code 7: it is gone"),
        ("echo hello", "it said nothing"),
        ("kill -9 $$", "exit code -9"),
    ],
)
def test_an_interpreter_that_does_not_run_is_the_machines_fault(tmp_path: Path, script: str, said: str) -> None:
    with pytest.raises(MachineError, match=said):
        look_into(answering_environment(tmp_path / "env", script), {})


def test_a_dangling_link_and_a_file_that_is_no_program(tmp_path: Path) -> None:
    for name in ("dangling", "text"):
        (tmp_path / name / "bin").mkdir(parents=True)
    (tmp_path / "dangling/bin/python").symlink_to(tmp_path / "gone")
    (tmp_path / "text/bin/python").write_text("no program")
    for name, said in (("dangling", "No such file"), ("text", "Permission denied")):
        with pytest.raises(MachineError, match=f"does not run .{said}.*make the environment again"):
            look_into(tmp_path / name, {})


def test_what_is_missing_comes_with_the_command_that_installs_it(tmp_path: Path) -> None:
    folder = real_environment(tmp_path / "bare", shared=False)
    with pytest.raises(MachineError) as caught:
        able_to_measure(folder, {}, on_gpu=True)
    said = str(caught.value)
    assert "lacks torch, msgspec, numpy, nvidia-ml-py, cuda-bindings, asv_runner==" in said
    assert f"{folder}/bin/python -m pip install torch msgspec" in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("changed", "python", "said"),
    [
        ({}, (3, 9, 1), "Python 3.9.1, measuring needs 3.10"),
        ({"asv-runner": "0.1"}, (3, 12, 0), "pip install asv_runner=="),
    ],
)
def test_other_versions(tmp_path: Path, changed: dict[str, str], python: tuple[int, int, int], said: str) -> None:
    folder = answering_environment(tmp_path / "env", answer(WHOLE | changed, version=python))
    with pytest.raises(SolwatchError, match=said):
        able_to_measure(folder, {}, on_gpu=False)


def test_a_whole_environment_tells_what_it_has(tmp_path: Path) -> None:
    folder = real_environment(tmp_path / "env")
    install(folder, "vendor", "9.9")
    found = able_to_measure(folder, {}, on_gpu=False)
    assert found.python == folder / "bin/python"
    assert found.packages["vendor"] == "9.9"
    origins = look_into(folder, {}, ["vendor", "absent"]).origins
    assert origins["vendor"] is not None
    assert origins["vendor"].startswith(str(folder))
    assert origins["absent"] is None


def test_the_working_folder_is_no_part_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/__init__.py").write_text("")
    monkeypatch.chdir(tmp_path)
    assert look_into(real_environment(tmp_path / "env", shared=False), {}, ["toy"]).origins == {"toy": None}


def test_what_a_build_provides_and_for_which_python(tmp_path: Path) -> None:
    for name in ("op", "op-1.dist-info", "op.data"):
        (tmp_path / name).mkdir()
    for name in ("one.py", "native.cpython-312-x86_64-linux-gnu.so", "solwatch-build.json"):
        (tmp_path / name).write_text("")
    assert top_level_modules(tmp_path) == ["native", "one", "op"]
    assert interpreter_of(tmp_path) is None
    for wheel, expected in (
        ("op-1-py3-none-linux_x86_64.whl", None),
        ("op-1-cp310-abi3-linux_x86_64.whl", None),
        ("op-1-cp312-cp312-linux_x86_64.whl", "cp312"),
    ):
        (tmp_path / "solwatch-build.json").write_text(json.dumps({"wheel": wheel}))
        assert interpreter_of(tmp_path) == expected
