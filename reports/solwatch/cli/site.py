"""The command ``site``: asv's site with the speed-of-light page."""

from pathlib import Path

import click

from solwatch.model.errors import ExitCode


@click.command()
@click.option("--offline", is_flag=True, help="Put the libraries beside it that asv's pages load from the network.")
def site(offline: bool) -> int:
    """Publish the history: asv's pages, the "Speed of light" page, and the pages of gates.

    What asv publish does, and before it the pages of gates that lack one. --offline gets the libraries from
    packages of the npm registry, once, and keeps them in ~/.solwatch/libraries.
    """
    from solwatch.app.site import make_site
    from solwatch.cli.showing import print_result, say
    from solwatch.workspace.git import Repository

    made = make_site(Repository.open(Path.cwd()), offline=offline, say=say)
    print_result(f"site: {made.html / 'index.html'}")
    if made.missing:
        say(f"still loaded from the network, for these could not be had: {'; '.join(made.missing)}")
        return int(ExitCode.UNTRUSTED)
    say("`asv preview` shows it; any web server that serves files can")
    return int(ExitCode.OK)
