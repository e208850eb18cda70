import json
from pathlib import Path

import pytest
from asv.machine import Machine, MachineCollection

from solwatch.asvio.machine import machine_info
from solwatch.model.errors import MachineError, RequestError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_makes_the_file_that_asv_reads(home: Path) -> None:
    info = machine_info()
    assert info["machine"] == Machine.get_unique_machine_name()
    assert MachineCollection.load(info["machine"]) == info
    assert machine_info() == info
    assert [path.name for path in home.iterdir()] == [".asv-machine.json"]


def test_a_name_that_is_given_counts_and_leaves_the_file_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOLWATCH_MACHINE", "h200")
    info = machine_info()
    assert (info["machine"], info.keys()) == ("h200", Machine.get_defaults().keys())
    assert not list(home.iterdir())


@pytest.mark.parametrize("name", ["../h200", ".h200", "a b", "h200\n", "a" * 65])
def test_a_name_that_is_no_folder_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOLWATCH_MACHINE", name)
    with pytest.raises(RequestError, match=r"SOLWATCH_MACHINE=.*allowed are up to 64 letters"):
        machine_info()


def test_keeps_what_the_file_says(home: Path) -> None:
    file = home / ".asv-machine.json"
    file.write_text(json.dumps({"h200-runner": {"machine": "h200-runner", "ram": "2 TB"}, "version": 1}))
    before = file.read_bytes()
    assert machine_info() == {"machine": "h200-runner", "ram": "2 TB"}
    assert file.read_bytes() == before


def test_adds_this_machine_to_those_of_others(home: Path) -> None:
    file = home / ".asv-machine.json"
    others = {name: {"machine": name} for name in ("a", "b")}
    file.write_text(json.dumps(others | {"version": 1}))
    name = machine_info()["machine"]
    assert set(json.loads(file.read_text())) == {"a", "b", name, "version"}


@pytest.mark.parametrize(
    ("text", "message"),
    [("{half", "can't be read as JSON"), ("[1]", "is not a list of machines"), ('{"a": 1}', "entry without a machine")],
)
def test_a_damaged_file_is_one_line_and_stays(home: Path, text: str, message: str) -> None:
    file = home / ".asv-machine.json"
    file.write_text(text)
    with pytest.raises(MachineError, match=message) as raised:
        machine_info()
    assert "\n" not in str(raised.value)
    assert file.read_text() == text


def test_a_home_that_can_t_be_written_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/proc/1")
    with pytest.raises(MachineError, match="can't be written"):
        machine_info()
