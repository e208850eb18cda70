"""``fleet.json``: read as it is meant, and every mistake in one line."""

import json
from pathlib import Path
from typing import Any

import pytest
from fakes.fleets import CPU_ENTRY, H200_ENTRY, fleet_file, runner
from hypothesis import given
from hypothesis import strategies as st

from solwatch.model.errors import ExitCode, MachineError, RequestError
from solwatch.model.fleet import Fleet, Runner
from solwatch.workspace.fleet import ephemeral_runners, find_runner, load_fleet

ROOT = Path(__file__).parents[3]


def test_reads_runners_in_their_order(tmp_path: Path) -> None:
    fleet = load_fleet(fleet_file(tmp_path, H200_ENTRY, CPU_ENTRY))
    cpu = Runner(name="cpu", labels=["ubuntu-latest"], ephemeral=True, limit_min=15)
    assert fleet == Fleet(runners=[runner(), cpu])


def test_this_repositorys_own_fleet_is_sound() -> None:
    fleet = load_fleet(ROOT / ".github" / "fleet.json")
    assert [entry.gpu for entry in fleet.runners] == ["NVIDIA H200"]
    assert ephemeral_runners(fleet, Path("fleet.json")) == fleet.runners


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"lables": ["x"]}, r"unknown setting 'runners\[0\].lables' in .*: the nearest known one is 'labels'"),
        ({"name": "H200"}, r"runners\[0\].name = 'H200' in .*: allowed is a name of up to 40 lower-case letters"),
        ({"name": "h200\n"}, r"runners\[0\].name = 'h200\\n' in"),
        ({"name": "../h200"}, r"runners\[0\].name = '../h200' in"),
        ({"name": ""}, r"runners\[0\].name = '' in"),
        ({"labels": []}, r"runners\[0\].labels = \[\] in .*: allowed is a list with at least 1 of: a label"),
        ({"labels": ["a b"]}, r"runners\[0\].labels = \['a b'\] in"),
        ({"labels": ["gpu", "GPU"]}, r"runners\[0\].labels = \['gpu', 'GPU'\] in .*: allowed is each label once"),
        ({"labels": "gpu"}, r"runners\[0\].labels = 'gpu' in"),
        ({"gpu": "NVIDIA\u202eH200"}, r"runners\[0\].gpu = .* in .*: allowed is a GPU's name as the driver tells it"),
        ({"gpu_count": 0}, r"runners\[0\].gpu_count = 0 in .*: allowed is a whole number of at least 1 and"),
        ({"gpu_count": 1.5}, r"runners\[0\].gpu_count = 1.5 in"),
        ({"architectures": ["sm_90"]}, r"\['sm_90'\] in .*: allowed is a list of: a CUDA architecture like 8.0, 9.0a"),
        ({"architectures": ["7.5"]}, r"\['7.5'\] in .*8.0 or newer"),
        ({"architectures": ["9.0a\n"]}, r"\['9.0a\\n'\] in"),
        ({"architectures": []}, r"runners\[0\].architectures is missing in .*: a runner with a GPU needs at least one"),
        ({"gpu": None}, r"runners\[0\].architectures = \['9.0a'\] in .*: without runners\[0\].gpu there is no GPU"),
        ({"gpu": None, "architectures": [], "gpu_count": 2}, r"runners\[0\].gpu_count = 2 in .*: without runners"),
        ({"ephemeral": "yes"}, r"runners\[0\].ephemeral = 'yes' in .*: allowed is true or false"),
        ({"limit_min": 7201}, r"runners\[0\].limit_min = 7201 in .*: allowed is .* of at most 7200"),
        ({"price_usd_per_h": 0}, r"runners\[0\].price_usd_per_h = 0 in .*: allowed is a number above 0"),
        (
            {"price_usd_per_h": 2, "spot_price_usd_per_h": 3.5},
            r"spot_price_usd_per_h = 3.5 in .*: allowed is at most runners\[0\].price_usd_per_h = 2",
        ),
    ],
)  # fmt: skip
def test_a_wrong_entry_is_one_line(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=said) as raised:
        load_fleet(fleet_file(tmp_path, {**H200_ENTRY, **changes}))
    assert "\n" not in str(raised.value)
    assert raised.value.exit_code is ExitCode.USAGE


@pytest.mark.parametrize("key", ["name", "labels", "ephemeral"])
def test_what_is_needed_is_needed(tmp_path: Path, key: str) -> None:
    entry = {name: value for name, value in H200_ENTRY.items() if name != key}
    with pytest.raises(RequestError, match=rf"runners\[0\].{key} is missing in .*: it is required"):
        load_fleet(fleet_file(tmp_path, entry))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not valid JSON"),
        ("{", "is not valid JSON"),
        ("[]", 'must be an object with the key "runners", not list'),
        ("{}", "runners is missing in .*: it is required"),
        ('{"runners": []}', "runners in .* is not a list of at least one object: write each runner as one"),
        ('{"runners": {}}', "runners in .* is not a list of at least one object"),
        ('{"runners": [1]}', "runners in .* is not a list of at least one object"),
        ('{"runner": []}', "unknown setting 'runner' in .*: the only one is 'runners', a list"),
        ("[" * 100_000, "is nested too deeply|is not valid JSON"),
        ('{"runners": "' + "x" * (1 << 20) + '"}', "has more than 1048576 bytes"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "fleet.json"
    path.write_text(text)
    with pytest.raises(RequestError, match=said) as raised:
        load_fleet(path)
    assert "\n" not in str(raised.value)


def test_text_that_is_none_and_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "fleet.json"
    with pytest.raises(RequestError, match="is not there: write it, or name the fleet's file with --file"):
        load_fleet(path)
    path.write_bytes(b'{"runners": "\xff"}')
    with pytest.raises(RequestError, match="is not valid JSON"):
        load_fleet(path)


KEYS = st.sampled_from(["runners", "name", "labels", "gpu", "$schema", "x"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner)
)


@given(ANYTHING)
def test_whatever_json_it_is_a_wrong_file_is_a_request_error(
    tmp_path_factory: pytest.TempPathFactory, content: Any
) -> None:
    path = tmp_path_factory.mktemp("fleet") / "fleet.json"
    path.write_text(json.dumps(content))
    with pytest.raises(RequestError):
        load_fleet(path)


def test_two_runners_of_one_name(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"2 runners are named 'h200' in .*: give each a name of its own"):
        load_fleet(fleet_file(tmp_path, H200_ENTRY, CPU_ENTRY, H200_ENTRY))


def test_a_runner_by_its_name() -> None:
    fleet, path = Fleet(runners=[runner(), runner(name="a100")]), Path("fleet.json")
    assert find_runner(fleet, "a100", path) == fleet.runners[1]
    with pytest.raises(RequestError, match=r"no runner is named 'a10' in fleet.json: the nearest known one is 'a100'"):
        find_runner(fleet, "a10", path)


def test_code_from_a_fork_runs_on_ephemeral_runners_only() -> None:
    kept = runner(name="kept", ephemeral=False)
    path = Path("fleet.json")
    assert ephemeral_runners(Fleet(runners=[kept, runner()]), path) == [runner()]
    with pytest.raises(MachineError, match=r"^infrastructure: no runner in fleet.json is ephemeral"):
        ephemeral_runners(Fleet(runners=[kept]), path)
