"""What the remote actions promise, done on this machine: called by the stubs that act takes in their place.

Artifacts lie in a folder for each run, caches in one for each ref; checkouts come from the bare repository. Inputs
arrive as JSON in $INPUTS. Only the standard library is used: it runs with whatever Python runs the tests.
"""

import fnmatch
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

Inputs = dict[str, str]


class RefusedError(Exception):
    """The action would fail here too: one line that says why."""


def checkout(inputs: Inputs) -> None:
    """Bring the ref, by default the event's commit, into the empty workspace; all of the history only if asked."""
    wanted = inputs["ref"] or os.environ["GITHUB_SHA"]
    depth = [] if inputs["fetch-depth"] == "0" else ["--depth", inputs["fetch-depth"]]
    branches = ["+refs/heads/*:refs/remotes/origin/*"] if inputs["fetch-depth"] == "0" else []
    _git("init", "--quiet")
    _git("remote", "add", "origin", os.environ["E2E_ORIGIN"])
    _git("fetch", "--quiet", *depth, "origin", wanted, *branches)
    _git("checkout", "--quiet", "--detach", "FETCH_HEAD" if not branches else wanted)


def setup_python(inputs: Inputs) -> None:
    """Put a ``python`` on PATH: this one, whose new environments also see the packages that are installed here."""
    folder = _temp() / "python"
    folder.mkdir(parents=True)
    script = folder / "python"
    interpreter, packages = os.environ["E2E_PYTHON"], os.environ["E2E_PACKAGES"]
    script.write_text(
        "#!/bin/sh -e\n"
        f'if [ "$1 $2" != "-m venv" ]; then exec "{interpreter}" "$@"; fi\n'
        f'"{interpreter}" -m venv --without-pip "$3"\n'
        f'for site in "$3"/lib/python*/site-packages; do echo "{packages}" > "$site/machine.pth"; done\n'
    )
    script.chmod(0o755)
    _append("GITHUB_PATH", str(folder))


def upload_artifact(inputs: Inputs) -> None:
    """Keep files under the common folder of all paths; an artifact is there once, unless it may be overwritten."""
    paths = [Path(line.strip()) for line in inputs["path"].splitlines() if line.strip()]
    root = paths[0] if len(paths) == 1 else Path(os.path.commonpath(paths))
    if root.is_file():
        root = root.parent
    files = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*")))]
    files = [file for file in files if file.is_file() and not any(part.startswith(".") for part in file.parts)]
    target = _artifacts() / inputs["name"]
    if not files:
        if inputs["if-no-files-found"] == "error":
            raise RefusedError(f"no files were found with the provided path: {inputs['path']}")
        print(f"no files found for {inputs['name']}")
        return
    if target.exists():
        if inputs["overwrite"] != "true":
            raise RefusedError(f"an artifact named {inputs['name']} is there already")
        shutil.rmtree(target)
    for file in files:
        place = target / file.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)  # an archive of Actions keeps no modes
    print(f"artifact {inputs['name']}: {len(files)} files")


def download_artifact(inputs: Inputs) -> None:
    """Bring one artifact into the folder, or each that matches a pattern into a folder of its own."""
    home = _artifacts(inputs["run-id"])
    here = sorted(path.name for path in home.iterdir()) if home.is_dir() else []
    target = Path(inputs["path"] or ".")
    if inputs["name"]:
        if inputs["name"] not in here:
            raise RefusedError(f"unable to find any artifacts for the associated workflow: {inputs['name']}")
        shutil.copytree(home / inputs["name"], target, dirs_exist_ok=True)
        return
    found = [name for name in here if any(fnmatch.fnmatchcase(name, one) for one in _braces(inputs["pattern"]))]
    for name in found:
        shutil.copytree(home / name, target / name, dirs_exist_ok=True)
    print(f"{len(found)} artifacts match {inputs['pattern']}: {' '.join(found)}")


def cache_restore(inputs: Inputs) -> None:
    """Bring a cache of the run's own ref or of main: that with the key, or the newest that begins with another."""
    for scope in (os.environ["GITHUB_REF"], "refs/heads/main"):
        for pattern in [inputs["key"], *(f"{key}*" for key in inputs["restore-keys"].split())]:
            if kept := list(_caches(scope).glob(pattern)):
                newest = max(kept, key=lambda path: path.stat().st_mtime)
                shutil.copytree(newest, inputs["path"], dirs_exist_ok=True)
                print(f"restored {newest.name} of {scope}")
                return
    print("no cache")


def cache_save(inputs: Inputs) -> None:
    """Keep a folder under the run's ref; a key is written once."""
    target = _caches(os.environ["GITHUB_REF"]) / inputs["key"]
    if not target.exists() and Path(inputs["path"]).is_dir():
        shutil.copytree(inputs["path"], target)


def upload_pages_artifact(inputs: Inputs) -> None:
    """Keep the folder as the run's site."""
    upload_artifact({"name": "github-pages", "overwrite": "true", "if-no-files-found": "error", **inputs})


def deploy_pages(inputs: Inputs) -> None:
    """Replace the whole site by the run's."""
    site = Path(os.environ["E2E_STORE"]) / "pages"
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(_artifacts() / "github-pages", site)
    _append("GITHUB_OUTPUT", "page_url=https://example.invalid/")


STUBS: dict[str, tuple[Callable[[Inputs], None], Inputs]] = {
    "checkout": (checkout, {"ref": "", "fetch-depth": "1", "persist-credentials": "true"}),
    "setup-python": (setup_python, {"python-version": ""}),
    "upload-artifact": (
        upload_artifact,
        {"name": "artifact", "path": "", "overwrite": "false", "if-no-files-found": "warn"},
    ),
    "download-artifact": (
        download_artifact,
        {"name": "", "pattern": "*", "path": "", "run-id": "", "github-token": ""},
    ),
    "cache/restore": (cache_restore, {"path": "", "key": "", "restore-keys": ""}),
    "cache/save": (cache_save, {"path": "", "key": ""}),
    "upload-pages-artifact": (upload_pages_artifact, {"path": ""}),
    "deploy-pages": (deploy_pages, {}),
}
"""Each action: what it does, its inputs with their defaults. An input that is not here is an error of act's."""


def _artifacts(run: str = "") -> Path:
    return Path(os.environ["E2E_STORE"]) / "runs" / (run or os.environ["GITHUB_RUN_ID"])


def _caches(ref: str) -> Path:
    return Path(os.environ["E2E_STORE"]) / "caches" / ref.replace("/", "+")


def _braces(pattern: str) -> list[str]:
    return pattern[1:-1].split(",") if pattern.startswith("{") else [pattern]


def _temp() -> Path:
    return Path(os.environ["RUNNER_TEMP"])


def _append(variable: str, line: str) -> None:
    with open(os.environ[variable], "a") as file:
        file.write(line + "\n")


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True)


if __name__ == "__main__":
    try:
        STUBS[sys.argv[1]][0](json.loads(os.environ["INPUTS"]))
    except RefusedError as error:
        sys.exit(f"{sys.argv[1]}: {error}")
