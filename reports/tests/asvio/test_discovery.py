import os
import sys
from pathlib import Path

import pytest

from solwatch.asvio.discovery import AsvCell, CellSkipped, Discovery, cell_key, discover
from solwatch.model.cell import CellInfo

SUITE = Path(__file__).with_name("suite_example")


@pytest.fixture
def suite() -> Discovery:
    return discover(SUITE)


def of(suite: Discovery, benchmark: str) -> list[CellInfo]:
    return [info for info in suite.infos if info.benchmark == benchmark]


def test_a_module_that_does_not_import_spoils_only_itself(suite: Discovery) -> None:
    assert suite.import_failures["broken_import"] == (
        "ModuleNotFoundError: No module named 'no_such_module' (broken_import.py:1)"
    )
    assert suite.import_failures["classes.CannotBeMade"].startswith("RuntimeError: needs a GPU (classes.py:")
    assert set(suite.import_failures) == {"broken_import", "classes.CannotBeMade"}
    assert of(suite, "functions.time_sleep")


def test_finds_what_asv_finds(suite: Discovery) -> None:
    found = {info.benchmark for info in suite.infos if info.kind == "asv"}
    assert found == {
        *(f"functions.{name}" for name in (
            "time_sleep", "time_fails", "time_fixed_number", "timeraw_import", "mem_list", "peakmem_list",
            "track_bytes", "track_samples", "track_nothing", "track_nan", "track_folder",
        )),
        *(f"classes.{name}" for name in (
            "Objects.track_rows", "Objects.time_rows", "Cached.track_cached", "Skips.track_one", "SetupFails.track_one",
        )),
        "sub.track_sub",
    }  # fmt: skip


def test_lists_an_asv_benchmark_by_combination(suite: Discovery) -> None:
    infos = of(suite, "classes.Cached.track_cached")
    assert [info.key for info in infos] == ["classes.Cached.track_cached(1)", "classes.Cached.track_cached(2)"]
    (info,) = of(suite, "functions.track_bytes")
    assert (info.key, info.params, info.unit, info.type) == ("functions.track_bytes", [], "bytes", "track")
    assert of(suite, "functions.peakmem_list")[0].type == "peakmemory"
    assert info.version
    assert info.sets == []


def test_objects_are_named_as_asv_names_them(suite: Discovery) -> None:
    keys = [info.key for info in of(suite, "classes.Objects.track_rows")]
    size = "<suite_example.classes.Size object"
    assert keys[0] == f"classes.Objects.track_rows({size}> (0), 'plain')"
    assert keys[3] == f"""classes.Objects.track_rows({size}> (1), "<b>'quoted'</b>")"""
    assert suite.asv_cell(keys[0]) is not suite.asv_cell(keys[0])


def test_a_solwatch_class_is_one_cell_for_a_combination(suite: Discovery) -> None:
    infos = of(suite, "cells.Suite")
    assert [info.key for info in infos] == [
        "cells.Suite(1, 'llama')", "cells.Suite(1, 'gpt')", "cells.Suite(16, 'llama')", "cells.Suite(16, 'gpt')",
    ]  # fmt: skip
    assert [info.sets for info in infos] == [["quick", "standard"], [], [], ["standard"]]
    assert {(info.kind, info.device, info.gated, info.version) for info in infos} == {
        ("suite", "cpu", True, "protocol-1")
    }
    (peer,) = of(suite, "cells.Peer")
    assert not peer.gated
    assert suite.info("cells.Peer(1, 'llama')") == peer
    assert cell_key("cells.Suite", (1, "llama")) == infos[0].key
    assert cell_key("functions.time_sleep", ()) == "functions.time_sleep"


def test_a_suite_cell_gets_the_real_parameters(suite: Discovery) -> None:
    cell = suite.suite_cell("cells.Suite(16, 'llama')")
    assert cell.work.flops == 16.0
    with pytest.raises(CellSkipped, match="gpt is not for batches"):
        suite.suite_cell("cells.Suite(16, 'gpt')")
    with pytest.raises(RuntimeError, match="broken cell"):
        suite.suite_cell("cells.Suite(1, 'gpt')")


@pytest.mark.parametrize("key", ["cells.Suite(2, 'llama')", "functions.track_bytes"])
def test_an_unknown_suite_cell_is_a_key_error(suite: Discovery, key: str) -> None:
    with pytest.raises(KeyError, match="unknown cell"):
        suite.suite_cell(key)


@pytest.mark.parametrize("key", ["functions.time_none", "cells.Suite(1, 'llama')"])
def test_an_unknown_asv_cell_is_a_key_error(suite: Discovery, key: str) -> None:
    with pytest.raises(KeyError, match="unknown cell"):
        suite.asv_cell(key)


def ready(suite: Discovery, key: str) -> AsvCell:
    cell = suite.asv_cell(key)
    cell.setup()
    return cell


def test_times_in_short_blocks(suite: Discovery) -> None:
    cell = ready(suite, "functions.time_sleep")
    assert cell.unit == "seconds"
    first, number = cell.run(0.05)
    second, again = cell.run(0.05)
    cell.teardown()
    assert all(0.002 <= sample < 0.02 for sample in first + second)
    assert number == again
    assert 1 <= len(second) <= 0.05 / 0.002 + 1


def test_the_benchmark_s_own_number_stands(suite: Discovery) -> None:
    cell = ready(suite, "functions.time_fixed_number")
    assert cell.run(0.01)[1] == 7
    assert cell.run(0.01)[1] == 7
    cell.teardown()


@pytest.mark.parametrize(
    ("key", "low", "high", "unit"),
    [
        ("functions.timeraw_import", 0, 5, "seconds"),
        ("functions.mem_list", 800, 2000, "bytes"),
        ("functions.peakmem_list", 1e6, 1e11, "bytes"),
        ("functions.track_bytes", 42, 42, "bytes"),
        ("sub.track_sub", 5, 5, "unit"),
    ],
)
def test_every_kind_gives_values(suite: Discovery, key: str, low: float, high: float, unit: str) -> None:
    cell = ready(suite, key)
    for _ in range(2):
        samples, number = cell.run(0.01)
        assert samples
        assert all(low <= sample <= high for sample in samples)
        assert number == 1
    assert cell.unit == unit
    cell.teardown()


def test_a_track_may_give_samples(suite: Discovery) -> None:
    assert ready(suite, "functions.track_samples").run(0.01) == ([3.0, 4.0], 2)


def test_what_is_printed_stays_out_of_stdout(suite: Discovery, capsys: pytest.CaptureFixture[str]) -> None:
    ready(suite, "functions.track_bytes").run(0.01)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "asv takes what a benchmark prints" in captured.err


def test_setup_runs_before_each_timed_call_and_teardown_after(suite: Discovery) -> None:
    classes = sys.modules["suite_example.classes"]
    key = of(suite, "classes.Objects.time_rows")[2].key
    classes.LOG.clear()
    cell = ready(suite, key)
    samples, number = cell.run(0.001)
    more, _ = cell.run(0.001)
    cell.teardown()
    cell.teardown()
    step = [("setup", 2, "plain"), ("call", 2, "plain"), ("teardown", 2, "plain")]
    assert number == 1
    log = list(classes.LOG)
    assert log == step * (len(log) // 3)
    assert len(log) // 3 >= len(samples) + len(more)


def test_every_combination_has_an_instance_of_its_own(suite: Discovery) -> None:
    values = []
    for info in of(suite, "classes.Objects.track_rows"):
        cell = ready(suite, info.key)
        values += cell.run(0.01)[0]
        cell.teardown()
    assert values == [11.0, 11.0, 21.0, 21.0]


def test_setup_cache_runs_once_and_every_user_gets_a_copy_in_its_folder(suite: Discovery) -> None:
    classes = sys.modules["suite_example.classes"]
    classes.Cached.calls = 0
    before = os.getcwd()
    values = []
    for key in ("classes.Cached.track_cached(1)", "classes.Cached.track_cached(2)"):
        cell = ready(suite, key)
        values += cell.run(0.01)[0]
        cell.teardown()
    assert values == [40 + 1 + 5, 40 + 2 + 5]
    assert classes.Cached.calls == 1
    assert os.getcwd() == before
    suite.close()


def test_a_folder_of_its_own_for_each_cell(suite: Discovery) -> None:
    for _ in range(2):
        cell = ready(suite, "functions.track_folder")
        assert cell.run(0.01) == ([1.0], 1)
        cell.teardown()
    assert not (Path.cwd() / "mine").exists()


@pytest.mark.parametrize("what", ["not-here", "listed"])
def test_a_skip_in_setup_says_so(suite: Discovery, what: str) -> None:
    with pytest.raises(CellSkipped):
        ready(suite, f"classes.Skips.track_one({what!r})")


def test_a_skip_while_running_says_so(suite: Discovery) -> None:
    with pytest.raises(CellSkipped, match="too late"):
        ready(suite, "classes.Skips.track_one('late')").run(0.01)
    with pytest.raises(CellSkipped, match="NaN"):
        ready(suite, "functions.track_nan").run(0.01)
    assert ready(suite, "classes.Skips.track_one('runs')").run(0.01) == ([1.0], 1)


def test_failures_are_the_benchmark_s_own(suite: Discovery) -> None:
    with pytest.raises(ValueError, match="the benchmark itself"):
        ready(suite, "functions.time_fails").run(0.01)
    with pytest.raises(OSError, match="no data set"):
        ready(suite, "classes.SetupFails.track_one")
    with pytest.raises(TypeError, match="track_nothing returned None, wanted a number"):
        ready(suite, "functions.track_nothing").run(0.01)


def test_a_suite_of_the_same_name_elsewhere_is_another_suite(suite: Discovery, tmp_path: Path) -> None:
    other = tmp_path / "suite_example"
    other.mkdir()
    (other / "__init__.py").write_text("def track_here(): return 1\n")
    assert [info.key for info in discover(other).infos] == ["track_here"]
    assert len(discover(SUITE).infos) == len(suite.infos)


def test_a_suite_that_does_not_import_at_all(tmp_path: Path) -> None:
    suite = tmp_path / "halved"
    suite.mkdir()
    (suite / "__init__.py").write_text("def track_here(:\n")
    (suite / "other.py").write_text("def track_other(): return 1\n")
    found = discover(suite)
    assert found.infos == []
    assert list(found.import_failures) == ["halved"]
    assert "SyntaxError" in found.import_failures["halved"]


def test_others_can_import_after_it_and_finders_do_not_pile_up(suite: Discovery, tmp_path: Path) -> None:
    """pytest asks the finders with two arguments."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "__init__.py").write_text("")
    discover(str(tmp_path / "other"))
    finders = list(sys.meta_path)
    discover(str(tmp_path / "other"))
    assert sys.meta_path == finders
    for finder in finders:
        assert finder.find_spec("a_module_that_nobody_has", None) is None
        assert finder.find_spec("a_module_that_nobody_has", [str(tmp_path)]) is None
