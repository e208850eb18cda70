import json
import math
from pathlib import Path
from typing import Any

import pytest
from asv.benchmarks import Benchmarks
from asv.config import Config as AsvConfig
from asv.results import Results, iter_results

from solwatch.asvio.resultfiles import Description, Measured, Samples, Value, write_results
from solwatch.model.errors import MachineError

SHA = "0123456789abcdef0123456789abcdef01234567"
MACHINE = {"machine": "runner", "os": "Linux", "arch": "x86_64", "cpu": "c", "num_cpu": "2", "ram": "1"}
MEASURED = Measured(machine=MACHINE, commit=SHA, date_ms=1_700_000_000_000, python="3.11")
FILE = Path("runner") / "01234567-solwatch-py3.11.json"


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def description(tokens: list[str], version: str = "1", name: str = "b.C.track_time") -> Description:
    return Description(
        name=name,
        params=[tokens, ["'llama'", "'gpt'"]],
        param_names=["tokens", "layer"],
        type="time",
        unit="seconds",
        version=version,
    )


def save(
    folder: Path, cells: dict[tuple[str, ...], Value], *, tokens: list[str] | None = None, version: str = "1"
) -> list[str]:
    described = description(tokens or ["1", "16"], version)
    return write_results(folder, MEASURED, [described], {described.name: cells}, write=put)


def loaded(folder: Path) -> dict[tuple[str, ...], Any]:
    """Return the medians as asv's own commands would read them."""
    conf = AsvConfig.from_json({"repo": ".", "results_dir": str(folder), "benchmark_dir": "."})
    benchmarks = Benchmarks.load(conf)
    (results,) = iter_results(str(folder))
    assert isinstance(results, Results)
    (name,) = results.get_result_keys(benchmarks)
    tokens, layers = benchmarks[name]["params"]
    values = results.get_result_value(name, [tokens, layers])
    places = [(token, layer) for token in tokens for layer in layers]
    return dict(zip(places, values, strict=True))


def test_asv_reads_what_is_written(tmp_path: Path) -> None:
    warnings = save(
        tmp_path,
        {("1", "'llama'"): Samples([1.0, 3.0, 2.0], 4), ("1", "'gpt'"): None, ("16", "'llama'"): 7.5},
    )
    assert warnings == []
    values = loaded(tmp_path)
    assert values["1", "'llama'"] == 2.0
    assert values["1", "'gpt'"] is None
    assert values["16", "'llama'"] == 7.5
    assert math.isnan(values["16", "'gpt'"])
    (results,) = iter_results(str(tmp_path))
    assert (results.commit_hash, results.date, results.env_name) == (SHA, 1_700_000_000_000, "solwatch-py3.11")
    samples = results.get_result_samples("b.C.track_time", [["1"], ["'llama'"]])
    assert samples == [[1.0, 3.0, 2.0]]
    (stats,) = results.get_result_stats("b.C.track_time", [["1"], ["'llama'"]])
    assert (stats["number"], stats["repeat"]) == (4, 3)


def test_only_the_cells_measured_change(tmp_path: Path) -> None:
    save(tmp_path, {("1", "'llama'"): Samples([1.0]), ("16", "'gpt'"): Samples([16.0])})
    save(tmp_path, {("1", "'llama'"): Samples([2.0])}, tokens=["1"])
    save(tmp_path, {("64", "'llama'"): Samples([64.0])}, tokens=["64"])
    values = loaded(tmp_path)
    assert values["1", "'llama'"] == 2.0
    assert values["16", "'gpt'"] == 16.0
    assert values["64", "'llama'"] == 64.0


def test_times_under_another_version_do_not_mix(tmp_path: Path) -> None:
    save(tmp_path, {("1", "'llama'"): Samples([1.0]), ("16", "'gpt'"): Samples([16.0])})
    save(tmp_path, {("1", "'llama'"): Samples([2.0])}, version="2")
    values = loaded(tmp_path)
    assert values["1", "'llama'"] == 2.0
    assert math.isnan(values["16", "'gpt'"])


def test_asv_s_own_description_is_kept(tmp_path: Path) -> None:
    own = {
        "b.C.track_time": {
            "name": "b.C.track_time", "params": [["1", "2"], ["'llama'", "'gpt'"]], "param_names": ["tokens", "layer"],
            "version": "1", "type": "time", "unit": "seconds", "code": "class C: ...", "timeout": 3,
        },
        "other.track_x": {"name": "other.track_x", "params": [], "param_names": [], "version": "x"},
        "version": 2,
    }  # fmt: skip
    put(tmp_path / "benchmarks.json", json.dumps(own).encode())
    save(tmp_path, {("16", "'llama'"): Samples([1.0])}, tokens=["16"])
    listed = json.loads((tmp_path / "benchmarks.json").read_text())
    assert listed["other.track_x"] == own["other.track_x"]
    assert listed["b.C.track_time"]["code"] == "class C: ..."
    assert listed["b.C.track_time"]["params"][0] == ["1", "2", "16"]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", [str(FILE), "benchmarks.json", "runner/machine.json"])
@pytest.mark.parametrize("damage", ["half", "list", "version", "empty"])
def test_a_damaged_file_is_one_line_and_nothing_is_written(tmp_path: Path, name: str, damage: str) -> None:
    save(tmp_path, {("1", "'llama'"): Samples([1.0])})
    path = tmp_path / name
    whole = path.read_bytes()
    spoilt = {"half": whole[: len(whole) // 2], "list": b"[1, 2]", "version": b'{"version": 99}', "empty": b""}
    path.write_bytes(spoilt[damage])
    before = contents(tmp_path)
    with pytest.raises(MachineError, match=f"{path} can't be merged into") as raised:
        save(tmp_path, {("1", "'llama'"): Samples([2.0])})
    assert "\n" not in str(raised.value)
    assert contents(tmp_path) == before


def test_somebody_else_s_results_are_not_overwritten(tmp_path: Path) -> None:
    put(tmp_path / FILE, b'{"version": 2, "results": "mine"}')
    with pytest.raises(MachineError, match=r"can't be merged into, .*Nothing was written"):
        save(tmp_path, {("1", "'llama'"): Samples([2.0])})
    assert (tmp_path / FILE).read_bytes() == b'{"version": 2, "results": "mine"}'


def test_another_commit_under_the_same_eight_digits_is_not_overwritten(tmp_path: Path) -> None:
    save(tmp_path, {("1", "'llama'"): Samples([1.0])})
    other = Measured(machine=MACHINE, commit=SHA[:8] + "f" * 32, date_ms=0, python="3.11")
    with pytest.raises(MachineError, match=f"it holds another commit, {SHA}"):
        write_results(tmp_path, other, [description(["1"])], {}, write=put)


def test_foreign_files_are_one_warning_each(tmp_path: Path) -> None:
    put(tmp_path / "runner" / "notes.json", b"{}")
    put(tmp_path / "runner" / "notes.txt", b"")
    (warning,) = save(tmp_path, {("1", "'llama'"): Samples([1.0])})
    assert "notes.json is not asv's" in warning
    assert (tmp_path / "runner" / "notes.json").read_bytes() == b"{}"
