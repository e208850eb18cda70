"""Gathers the wheels that solwatch needs on a machine without network, all but torch and what torch brings.

The wheels are for Linux on x86-64 and for one version of Python, which need not be the one that runs this. pip
reads environment markers for the interpreter it runs in, so what the target needs is followed here: the metadata
of each wheel is read with the target's markers, and what is missing is downloaded, until nothing is. What is in
the folder at the end is therefore complete, torch aside, or this exits 1 and names what is missing.
"""

import argparse
import email.parser
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from wheels import ROOT, WheelError, build_wheels

PROVIDED = {"torch"}  # by the machine; what torch needs came with it
PLATFORMS = [f"manylinux_2_{glibc}_x86_64" for glibc in (28, 27, 26, 24, 17, 12, 5)] + ["manylinux2014_x86_64"]
EXTRAS = ["build", "cuda", "test"]


class HouseError(Exception):
    """The wheelhouse can't be completed: one line that names what is missing."""


class House:
    """A folder of wheels for one version of Python, and what they need."""

    def __init__(self, folder: Path, python: str) -> None:
        self.folder = folder
        self.python = python
        self.environment: dict[str, str] = {
            **{name: str(value) for name, value in default_environment().items()},
            "python_version": python,
            "python_full_version": f"{python}.0",
            "platform_machine": "x86_64",
            "platform_system": "Linux",
            "sys_platform": "linux",
            "implementation_name": "cpython",
        }

    def wheels(self) -> dict[str, Path]:
        """Return the wheels by the canonical name of their distribution."""
        return {canonicalize_name(path.name.split("-")[0]): path for path in sorted(self.folder.glob("*.whl"))}

    def requirements(self, wheel: Path, extras: set[str]) -> Iterator[Requirement]:
        """Yield what a wheel needs on the target, with these extras."""
        with zipfile.ZipFile(wheel) as archive:
            name = next(entry for entry in archive.namelist() if entry.endswith(".dist-info/METADATA"))
            metadata = email.parser.Parser().parsestr(archive.read(name).decode())
        for text in metadata.get_all("Requires-Dist") or []:
            requirement = Requirement(text)
            marker = requirement.marker
            if marker is None or any(marker.evaluate({**self.environment, "extra": extra}) for extra in {"", *extras}):
                yield requirement

    def missing(self, roots: list[Requirement]) -> dict[str, Requirement]:
        """Return what the roots need, directly or not, that no wheel here satisfies."""
        here = self.wheels()
        absent: dict[str, Requirement] = {}
        todo, seen = list(roots), set()
        while todo:
            requirement = todo.pop()
            name = canonicalize_name(requirement.name)
            if name in PROVIDED or (name, frozenset(requirement.extras)) in seen:
                continue
            seen.add((name, frozenset(requirement.extras)))
            wheel = here.get(name)
            if wheel is None or wheel.name.split("-")[1] not in requirement.specifier:
                absent[name] = requirement
            else:
                todo += self.requirements(wheel, set(requirement.extras))
        return absent

    def constraints(self, source: Path, target: Path) -> None:
        """Write the constraints that hold on the target, without their markers."""
        lines = []
        for line in source.read_text(encoding="utf-8").splitlines():
            text = line.split("#")[0].strip()
            if text:
                requirement = Requirement(text)
                if requirement.marker is None or requirement.marker.evaluate(self.environment):
                    lines.append(f"{requirement.name}{requirement.specifier}")
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def download(self, requirements: list[Requirement], constraints: Path) -> None:
        """Download wheels for exactly these; what they need is the next round's business."""
        specifiers = [f"{requirement.name}{requirement.specifier}" for requirement in requirements]
        print(f"downloading {', '.join(sorted(specifiers))}", flush=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
        target = ["--only-binary=:all:", "--implementation", "cp", "--python-version", self.python]
        target += [option for platform in PLATFORMS for option in ("--platform", platform)]
        places = ["--constraint", str(constraints), "--dest", str(self.folder)]
        if subprocess.run([*pip, *target, *places, *specifiers], check=False).returncode != 0:
            raise HouseError(f"pip can't download all of {', '.join(specifiers)} for Python {self.python}; see above")


def main() -> int:
    """Build our wheels, download the others, check that all is there; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=f"{sys.version_info[0]}.{sys.version_info[1]}", help="3.12, for example")
    parser.add_argument("--toolkit", action="store_true", help="nvcc too, for a machine without a CUDA toolkit")
    options = parser.parse_args()
    work, folder = ROOT / "build" / "wheelhouse", ROOT / "wheelhouse"
    shutil.rmtree(folder, ignore_errors=True)
    house = House(folder, options.python)
    build_wheels(work, folder)
    extras = [*EXTRAS, "toolkit"] if options.toolkit else EXTRAS
    roots = [Requirement(f"solwatch[{','.join(extras)}]"), Requirement("fused-o-proj")]
    house.constraints(ROOT / "constraints.txt", work / "constraints.txt")
    for _ in range(20):  # each round is one level of dependencies
        absent = house.missing(roots)
        if not absent:
            break
        house.download(list(absent.values()), work / "constraints.txt")
    else:
        raise HouseError(f"still missing after 20 rounds: {', '.join(sorted(map(str, absent.values())))}")
    wheels = sorted(house.wheels().values())
    for wheel in wheels:
        print(f"  {wheel.stat().st_size / 1e6:6.1f} MB  {wheel.name}")
    total = sum(wheel.stat().st_size for wheel in wheels) / 1e6
    print(f"{len(wheels)} wheels, {total:.0f} MB in {folder.name}/: all that Python {options.python} needs but torch.")
    print(f"There: pip install --no-index --find-links {folder.name} 'solwatch[{','.join(extras)}]' fused-o-proj")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (HouseError, WheelError) as error:
        print(f"wheelhouse: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
