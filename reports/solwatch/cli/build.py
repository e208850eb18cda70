"""``solwatch build``."""

from pathlib import Path

import click


@click.command()
@click.argument("commits", nargs=-1, required=True)
@click.option(
    "--device", type=click.Choice(["cpu", "cuda"]), required=True, help="What to build for; no GPU is needed."
)
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder of the pack; made anew."
)
def build(commits: tuple[str, ...], device: str, output: Path) -> int:
    """Build COMMITS, base before head, and pack them for `gate --builds` on a machine without a compiler."""
    import os

    from solwatch.app.packing import packed
    from solwatch.cli.showing import print_result, say
    from solwatch.render.packed import render_packed
    from solwatch.workspace.git import Repository
    from solwatch.workspace.settings import load_config

    repository = Repository.open(Path.cwd())
    config = load_config(repository.root, {})
    done = packed(repository, config, commits, device, output, environment=dict(os.environ), say=say)
    entries = [(each.commit.name, each.commit.sha, each.compiled, each.wall_s) for each in done.builds]
    print_result(render_packed(str(done.folder), entries, size_bytes=done.size_bytes))
    return 0
