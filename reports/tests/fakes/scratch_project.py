"""A small project in a git repository of its own: a C module that setuptools compiles, and a pure Python one."""

import os
import subprocess
from pathlib import Path

SOURCE = """\
#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *none) { return PyLong_FromLong(%s); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, 0}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_native", 0, -1, methods};
PyMODINIT_FUNC PyInit__native(void) { return PyModule_Create(&module); }
"""

SETUP = """\
from setuptools import Extension, setup

setup(
    name="tinyop",
    version="1",
    package_dir={"": "src"},
    packages=["tinyop"],
    ext_modules=[Extension("tinyop._native", ["src/tinyop/native.c"])],
)
"""

INPUTS = ["setup.py", "src"]


class ScratchProject:
    """A repository at ``root`` whose module ``tinyop`` answers the number it was last given."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=trunk")
        self.write("setup.py", SETUP)
        self.write("src/tinyop/__init__.py", "from tinyop._native import answer\n")
        self.write(".gitignore", "build/\n*.so\n")
        self.answer(1)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def answer(self, number: object) -> None:
        self.write("src/tinyop/native.c", SOURCE % number)

    def commit(self, subject: str) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)
        return self.git("rev-parse", "HEAD")

    def git(self, *arguments: str) -> str:
        identity = {
            f"GIT_{who}_{what}": "scratch@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        result = subprocess.run(
            ["git", "-C", str(self.root), *arguments],
            env=os.environ | identity | {"GIT_CONFIG_NOSYSTEM": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        return result.stdout.strip()
