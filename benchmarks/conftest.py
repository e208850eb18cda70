"""Gives pytest-benchmark the suite's cells: ``pytest benchmarks --benchmark-only``.

pytest is imported inside the functions: asv imports every module of this folder, also where pytest is not
installed.
"""

from pathlib import Path


def pytest_addoption(parser):
    parser.addoption("--cells", default="quick", help="set of cells to time: quick, standard or all")


def pytest_generate_tests(metafunc):
    if "cell_key" not in metafunc.fixturenames:
        return
    import pytest

    from solwatch.app.pytest_cells import PytestCells

    cells = PytestCells(Path(__file__).parent, named_set=metafunc.config.getoption("--cells"))
    timer = cells.timer()
    marks = [pytest.mark.benchmark(timer=timer)] if timer else []
    metafunc.parametrize(("cells", "cell_key"), [pytest.param(cells, key, id=key, marks=marks) for key in cells.keys])
