"""``solwatch build``."""

from pathlib import Path

import click

from solwatch.cli.options import SUITE


@click.command()
@click.argument("commits", nargs=-1, required=True)
@click.option(
    "--device", type=click.Choice(["cpu", "cuda"]), required=True, help="What to build for; no GPU is needed."
)
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder of the pack; made anew."
)
@click.option("--between", is_flag=True, help="COMMITS are GOOD and BAD: build what `bisect` follows between them too.")
@SUITE
def build(commits: tuple[str, ...], device: str, output: Path, between: bool, suite: str | None) -> int:
    """Build COMMITS, base before head, and pack them for `gate --builds` on a machine without a compiler.

    With --between a commit between the two that does not build is left out, and said.
    """
    import os

    from solwatch.app.packing import packed
    from solwatch.cli.showing import print_result, say
    from solwatch.render.packed import render_packed
    from solwatch.workspace.git import Repository
    from solwatch.workspace.settings import load_config

    repository = Repository.open(Path.cwd())
    config = load_config(repository.root, {"benchmarks": suite})
    done = packed(repository, config, commits, device, output, between=between, environment=dict(os.environ), say=say)
    entries = [(each.commit.name, each.commit.sha, each.compiled, each.wall_s) for each in done.builds]
    print_result(render_packed(str(done.folder), entries, left_out=list(done.left_out), size_bytes=done.size_bytes))
    return 0
