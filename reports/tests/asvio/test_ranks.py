"""Cells that want several GPUs for one call are named and left out, never timed on one."""

from pathlib import Path

import pytest

from solwatch.asvio.discovery import CellSkipped, discover

SUITE = """
import solwatch.suite

class Base(solwatch.suite.Suite):
    params = [[1, 2]]
    param_names = ["ranks"]

    def setup_cache(self):
        return self.measure()

    def cell(self, ranks):
        none = lambda *arguments, **tensors: None
        work = solwatch.suite.Work(flops=1.0, traffic_bytes=1.0, dtype="float32")
        return solwatch.suite.Cell(make_inputs=none, call=none, work=work, check=none, ranks=ranks)

class OfClass(Base):
    ranks = 8

    def setup_cache(self):
        return self.measure()
"""


def test_more_than_one_rank_is_skipped_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "ranked.py").write_text(SUITE)
    found = discover(tmp_path)
    assert found.import_failures == {}
    assert found.suite_cell("ranked.Base(1)").ranks == 1
    with pytest.raises(CellSkipped, match=r"ranks = 2: operators over several GPUs are out of scope.*leave ranks out"):
        found.suite_cell("ranked.Base(2)")
    with pytest.raises(CellSkipped, match="ranks = 8"):
        found.suite_cell("ranked.OfClass(1)")
