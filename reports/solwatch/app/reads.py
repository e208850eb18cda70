"""Which files a process opens below a folder: what a benchmark reads beside its suite."""

import importlib.util
import os
import sys
from pathlib import PurePath
from typing import Any


def watch_reads(folder: str) -> set[str]:
    """Return a set that from now on gets every path, relative to ``folder``, that this process opens below it.

    Imports are among them: of compiled Python its source is noted. There is no end to it, so that it is for
    processes that time nothing. What a library opens by itself, without Python, isn't seen.
    """
    home = os.path.join(os.path.realpath(folder), "")
    read: set[str] = set()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or not isinstance(arguments[0], (str, bytes)):
            return
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if path.startswith(home):
            read.add(os.path.relpath(_source(path), home))

    sys.addaudithook(hook)
    return read


def _source(path: str) -> str:
    if PurePath(path).parent.name != "__pycache__":
        return path
    try:
        return importlib.util.source_from_cache(path.partition(".pyc")[0] + ".pyc")
    except ValueError:
        return path
