"""Times the suite's cells with pytest-benchmark, for whoever works with it; the gate has better clocks."""


def test_cell(cells, cell_key, benchmark):
    ready = cells.ready(cell_key)
    benchmark(ready.call)
    if benchmark.enabled:
        benchmark.extra_info.update(ready.facts(benchmark.stats.stats.median))
