"""Two copies of asv's files as one: nothing lost, the newest kept, nothing changed by doing it twice."""

import itertools
import json
import math
from pathlib import Path
from typing import Any

import pytest
from asv.results import Results
from hypothesis import given
from hypothesis import strategies as st

from solwatch.asvio.merging import UnreadableError, checked, is_results, merged

SHA = "0123456789abcdef0123456789abcdef01234567"
PATH = "runner/01234567-solwatch-py3.11.json"
COLUMNS = ["result", "params", "version", "started_at", "duration", "stats_q_25", "samples"]
CELLS = list(itertools.product(["1", "16", "64"], ["'llama'", "'gpt'"]))


def file(rows: dict[str, list[Any]], *, sha: str = SHA, date: int = 1, columns: list[str] | None = None) -> bytes:
    return json.dumps(
        {
            "commit_hash": sha, "env_name": "solwatch-py3.11", "date": date, "params": {"machine": "runner"},
            "python": "3.11", "requirements": {}, "env_vars": {}, "result_columns": columns or COLUMNS,
            "results": rows, "durations": {}, "version": 2,
        }
    ).encode()  # fmt: skip


def row(cells: dict[tuple[str, str], float | None], *, at: int, version: str = "1") -> list[Any]:
    axes = [list(dict.fromkeys(cell[axis] for cell in cells)) for axis in range(2)]
    values = [cells.get((one, two), math.nan) for one, two in itertools.product(*axes)]
    measured = [value is not None and not math.isnan(value) for value in values]
    samples = [[value] * 3 if known else None for value, known in zip(values, measured, strict=True)]
    low = [value if known else None for value, known in zip(values, measured, strict=True)]
    return [values, axes, version, at, None, low, samples]


def cells_of(content: bytes, name: str = "b") -> dict[tuple[str, ...], Any]:
    """Return what the file says of each cell: its value, its samples, its statistics."""
    document = json.loads(content)
    found = dict(zip(document["result_columns"], document["results"][name], strict=False))
    nothing = [None] * math.prod(len(axis) for axis in found["params"])
    columns = [found.get(column) or nothing for column in ("result", "samples", "stats_q_25")]
    said = dict(zip(itertools.product(*found["params"]), zip(*columns, strict=True), strict=True))
    return {cell: one for cell, one in said.items() if not (isinstance(one[0], float) and math.isnan(one[0]))}


def test_cells_of_both_are_there_with_their_samples() -> None:
    one = file({"b": row({("1", "'llama'"): 1.0, ("16", "'gpt'"): 2.0}, at=5)})
    two = file({"b": row({("64", "'llama'"): 3.0}, at=6), "other": row({("1", "'x'"): 9.0}, at=2)})
    both = merged(PATH, one, two)
    assert cells_of(both) == {
        ("1", "'llama'"): (1.0, [1.0] * 3, 1.0),
        ("16", "'gpt'"): (2.0, [2.0] * 3, 2.0),
        ("64", "'llama'"): (3.0, [3.0] * 3, 3.0),
    }
    assert set(json.loads(both)["results"]) == {"b", "other"}


def test_the_newest_says_what_a_cell_is_and_a_failure_counts_as_said() -> None:
    old = file({"b": row({("1", "'llama'"): 1.0, ("16", "'llama'"): 2.0}, at=5)})
    new = file({"b": row({("1", "'llama'"): None, ("16", "'llama'"): math.nan}, at=6)})
    for both in (merged(PATH, old, new), merged(PATH, new, old)):
        assert cells_of(both) == {("1", "'llama'"): (None, None, None), ("16", "'llama'"): (2.0, [2.0] * 3, 2.0)}


def test_of_equally_new_ones_the_branch_s_stays() -> None:
    branch = file({"b": row({("1", "'llama'"): 1.0}, at=5)})
    assert merged(PATH, branch, file({"b": row({("1", "'llama'"): 2.0}, at=5)})) == branch


def test_results_of_two_versions_do_not_mix() -> None:
    old = file({"b": row({("1", "'llama'"): 1.0, ("16", "'llama'"): 2.0}, at=5)})
    new = file({"b": row({("1", "'llama'"): 3.0}, at=6, version="2")})
    for both in (merged(PATH, old, new), merged(PATH, new, old)):
        assert cells_of(both) == {("1", "'llama'"): (3.0, [3.0] * 3, 3.0)}


def test_a_benchmark_that_failed_as_a_whole_and_one_without_parameters() -> None:
    failed = file({"b": [None, [["1"], ["'llama'"]], "1", 9]})
    measured = file({"b": row({("1", "'llama'"): 1.0, ("16", "'llama'"): 2.0}, at=5)})
    assert cells_of(merged(PATH, measured, failed)) == {
        ("1", "'llama'"): (None, None, None), ("16", "'llama'"): (2.0, [2.0] * 3, 2.0)
    }  # fmt: skip
    plain = [file({"b": [[value], [], "1", at]}) for value, at in ((1.0, 1), (2.0, 2))]
    assert cells_of(merged(PATH, plain[1], plain[0])) == {(): (2.0, None, None)}


def values() -> st.SearchStrategy[bytes]:
    cell = st.one_of(st.none(), st.just(math.nan), st.floats(1, 2))
    rows = st.builds(
        lambda cells, at, version: row(cells, at=at, version=version),
        st.dictionaries(st.sampled_from(CELLS), cell, min_size=1),
        st.integers(1, 3),
        st.sampled_from(["1", "1", "1", "2"]),
    )
    return st.builds(
        lambda found, date, columns: file(found, date=date, columns=columns),
        st.dictionaries(st.sampled_from(["a", "b", "c"]), rows, max_size=3),
        st.integers(1, 2),
        st.just(COLUMNS),
    )


@given(branch=values(), local=values())
def test_a_merge_done_twice_changes_nothing(branch: bytes, local: bytes) -> None:
    both = merged(PATH, branch, local)
    assert merged(PATH, both, local) == both
    assert merged(PATH, both, branch) == both
    assert merged(PATH, both, both) == both


@given(branch=values(), local=values())
def test_no_cell_is_lost_and_none_made_up(branch: bytes, local: bytes) -> None:
    both = merged(PATH, branch, local)
    files = [json.loads(content) for content in (branch, local)]
    for name in json.loads(both)["results"]:
        rows = [found["results"][name] for found in files if name in found["results"]]
        sources = [
            cells_of(content, name)
            for content, found in zip((branch, local), files, strict=True)
            if name in found["results"]
        ]
        merged_cells = cells_of(both, name)
        if len({one[2] for one in rows}) == 1:
            assert set(merged_cells) == set().union(*sources)
        assert all(any(source.get(cell) == said for source in sources) for cell, said in merged_cells.items())


def test_asv_reads_what_was_merged(tmp_path: Path) -> None:
    one = file({"b": row({("1", "'llama'"): 1.0}, at=5)})
    two = file({"b": row({("16", "'llama'"): 2.0}, at=6)})
    path = tmp_path / PATH
    path.parent.mkdir()
    path.write_bytes(merged(PATH, one, two))
    results = Results.load(str(path), machine_name="runner")
    assert results.get_result_value("b", [["1", "16"], ["'llama'"]]) == [1.0, 2.0]
    assert results.get_result_samples("b", [["1", "16"], ["'llama'"]]) == [[1.0] * 3, [2.0] * 3]


def entry(params: list[list[str]], version: str = "1", **more: Any) -> dict[str, Any]:
    return {"name": "b", "params": params, "param_names": ["tokens"], "version": version, **more}


def listed(**entries: dict[str, Any]) -> bytes:
    return json.dumps({**entries, "version": 2}).encode()


def test_lists_of_benchmarks_are_united_without_going_back_and_forth() -> None:
    branch = listed(b=entry([["1", "16"]], code="long"), only={**entry([]), "name": "only"})
    local = listed(b=entry([["64", "1"]], code=""))
    both = merged("benchmarks.json", branch, local)
    assert json.loads(both)["b"] == entry([["1", "16", "64"]], code="long")
    assert "only" in json.loads(both)
    for again in (branch, local):
        assert merged("benchmarks.json", both, again) == both
    newer = listed(b=entry([["1"]], version="2"))
    assert json.loads(merged("benchmarks.json", both, newer))["b"]["version"] == "2"


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        (PATH, b"{", "is not whole JSON"),
        (PATH, b"[" * 100_000, "is not whole JSON"),
        (PATH, file({}).decode().encode("utf-16"), "is not whole JSON"),
        (PATH, file({"b": [[1.0], [["\ud800"]]]}), "is not whole JSON"),
        (PATH, b"[1]", "is not in asv's format 2"),
        (PATH, b'{"version": 1}', "is not in asv's format 2"),
        (PATH, b'{"version": 2}', "is not asv's"),
        (PATH, file({}, sha="f" * 40), "holds another commit"),
        (PATH, file({}, sha="0123"), "is not asv's"),
        ("other/01234567-x.json", file({}), "is of another machine"),
        (PATH, file({"b": [[1.0, 2.0], [["1"]]]}), "has no result for each of the 1 cells of 'b'"),
        (PATH, file({"b": [7, [["1"]]]}), "has no result for each"),
        (PATH, file({"b": [[1.0], [[str(i) for i in range(10_000)]] * 4]}), "has a benchmark of 1"),
        (PATH, file({"b": [[1.0], "text"]}), "is not asv's"),
        ("benchmarks.json", b'{"version": 2, "b": {"name": "c", "params": [], "param_names": []}}', "another name"),
        ("benchmarks.json", b'{"version": 2, "b": 3}', "is not asv's"),
        (
            "benchmarks.json",
            listed(b=entry([[str(index) for index in range(2000)]] * 3)),
            "has a benchmark of 8000000000",
        ),
        (PATH, file({"b": [[1.0], [["1"]], "1", 10**400]}), "is not asv's"),
        ("runner/machine.json", b'{"version": 1, "machine": "another"}', "describes another machine"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(path: str, content: bytes, said: str) -> None:
    with pytest.raises(UnreadableError, match=said):
        checked(path, content)
    with pytest.raises(UnreadableError, match="this machine's "):
        merged(path, None, content)
    if path == PATH:
        with pytest.raises(UnreadableError, match="the branch's "):
            merged(path, content, file({}))


def test_two_commits_of_the_same_eight_digits_are_not_merged() -> None:
    with pytest.raises(UnreadableError, match="another commit of the same eight digits"):
        merged(PATH, file({}), file({}, sha=SHA[:8] + "f" * 32))


@pytest.mark.parametrize("path", ["benchmarks.json", "runner/machine.json", PATH, "a b ü/01234567-x.json"])
def test_paths_of_results(path: str) -> None:
    assert is_results(path)


@pytest.mark.parametrize(
    "path",
    [
        "../machine.json", "./machine.json", ".git/machine.json", "machine.json", "/machine.json", "a/b/machine.json",
        "a/../machine.json", "a/notes.json", "a/0123456-x.json", "a/01234567-x.json/", "a\n/machine.json",
        "a/01234567-\n.json", "noise.jsonl/machine.json", "benchmarks.json/machine.json", "",
    ],
)  # fmt: skip
def test_paths_that_are_none(path: str) -> None:
    assert not is_results(path)
