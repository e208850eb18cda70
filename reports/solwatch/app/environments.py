"""Sides that are existing environments: one commit's suite and build, each measured by its own interpreter."""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import solwatch
from solwatch.app.builds import Built
from solwatch.app.sides import Side
from solwatch.model.errors import RequestError
from solwatch.model.record import Environment
from solwatch.workspace.environments import (
    Interpreter,
    able_to_measure,
    interpreter_of,
    look_into,
    top_level_modules,
)

SHOWN_ALONE = ("torch", "triton")
"""What is recorded of an environment that is measured alone; of two, everything in which they differ."""


def in_environments(
    folders: Mapping[str, Path],
    provide: Callable[[], Built],
    variables: Mapping[str, str],
    *,
    on_gpu: bool,
    say: Callable[[str], None],
) -> dict[str, Built]:
    """Return the build of one commit in each of ``folders`` (name of the side to environment).

    The environments are looked at before ``provide`` builds. An environment with a copy of its own of what the
    build provides (a vendor build) keeps it; the others get the build in front of their path. Raises
    ``RequestError`` and ``MachineError``.
    """
    able = {name: able_to_measure(folder, variables, on_gpu=on_gpu) for name, folder in folders.items()}
    packages = _telling(able)
    built = provide()
    (path,) = map(Path, built.side.path)
    names, cp = top_level_modules(path), interpreter_of(path)
    sides = {}
    for name, folder in folders.items():
        own = {module: origin for module, origin in look_into(folder, variables, names).origins.items() if origin}
        version = able[name].version
        if not own and cp not in (None, f"cp{version[0]}{version[1]}"):
            raise RequestError(
                f"{folder} has Python {version[0]}.{version[1]} and the commit's build is for {cp} alone: "
                f"install {', '.join(names)} in the environment, or use one of that Python"
            )
        for module, origin in sorted(own.items()):
            say(f"{name} measures the environment's own {module} ({origin}), not the commit's")
        sides[name] = replace(
            built,
            side=Side(name=name, path=() if own else built.side.path),
            environment=Environment(
                path=str(folder.absolute()),
                python=".".join(map(str, version)),
                packages=packages[name],
                own=sorted(own),
            ),
        )
    return sides


def _telling(able: Mapping[str, Interpreter]) -> dict[str, dict[str, str]]:
    """Return for each side the packages to record: those in which the sides differ, or the few of one alone."""
    every = sorted({package for one in able.values() for package in one.packages})
    if len(able) == 1:
        told = [package for package in every if package in SHOWN_ALONE]
    else:
        told = [package for package in every if len({one.packages.get(package) for one in able.values()}) > 1]
    return {
        name: {package: one.packages[package] for package in told if package in one.packages}
        for name, one in able.items()
    }


def activated(environment: Environment, variables: Mapping[str, str], ruler_dir: Path) -> dict[str, str]:
    """Return ``variables`` as the environment's processes see them: its commands first, and this solwatch.

    Both sides are measured by the solwatch that runs, whatever the environments have installed: a link to its
    package alone goes in front of their path, so that nothing else of this environment comes along.
    """
    package = Path(solwatch.__file__).parent
    folder = ruler_dir / hashlib.sha256(str(package).encode()).hexdigest()[:12]
    link = folder / "solwatch"
    if not link.exists():
        folder.mkdir(parents=True, exist_ok=True)
        scratch = folder / f"link.{os.getpid()}"
        scratch.symlink_to(package)
        scratch.replace(link)
    commands = [str(Path(environment.path) / "bin"), *filter(None, [variables.get("PATH")])]
    modules = [str(folder.absolute()), *filter(None, [variables.get("PYTHONPATH")])]
    return {**variables, "PATH": os.pathsep.join(commands), "PYTHONPATH": os.pathsep.join(modules)}
