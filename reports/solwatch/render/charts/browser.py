"""The library that draws charts in a browser: Vega-Lite as one script, out of what vl-convert brings along."""

from solwatch.render.charts.vega import VEGA_LITE

GLOBAL = "solwatchCharts"
"""Name under which the script puts ``vegaEmbed``."""


def browser_charts() -> bytes:
    """Return an ECMAScript module that needs no network; made in about 2 s."""
    import vl_convert  # at first use: no other command may pay for loading it

    return str(vl_convert.javascript_bundle(f"window.{GLOBAL} = vegaEmbed;", vl_version=VEGA_LITE)).encode()


def charts_version() -> str:
    """Return what the script depends on, fit for a file's name."""
    from importlib.metadata import version

    return f"vega-lite-{VEGA_LITE}-{version('vl-convert-python')}"
