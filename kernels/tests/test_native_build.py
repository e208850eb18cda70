"""The build's own logic: settings, toolchain search, cache."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

import pytest

import fused_o_proj  # noqa: F401  (first: the path below must not offer an unbuilt copy of it)

KERNELS = Path(__file__).resolve().parents[1]


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(KERNELS))
    from native_build import settings as module

    monkeypatch.setattr(module, "visible_gpu_archs", lambda: ())
    return module


@pytest.fixture
def toolchain(settings: ModuleType) -> ModuleType:
    from native_build import toolchain as module

    return module


@pytest.fixture
def cache(settings: ModuleType) -> ModuleType:
    from native_build import cache as module

    return module


@pytest.mark.parametrize(
    ("text", "archs"),
    [
        ("", ("90a",)),
        ("8.0", ("80",)),
        ("8.0;9.0a+PTX", ("80", "90a+PTX")),
        ("8.0 8.6, 12.0", ("80", "86", "120")),
        ("9.0a;9.0a", ("90a",)),
    ],
)
def test_archs(settings: ModuleType, text: str, archs: tuple[str, ...]) -> None:
    assert settings.parse_archs(text) == archs


def test_the_visible_gpu_decides(settings: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "visible_gpu_archs", lambda: ("89",))
    assert settings.parse_archs("") == ("89",)
    assert settings.parse_archs("8.0") == ("80",)


def test_without_a_driver_no_gpu_is_visible(settings: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("PATH", "")
    assert settings.visible_gpu_archs() == ()


@pytest.mark.parametrize("text", ["Hopper", "90", "9.0x", "7.5", "8.0;sm_90"])
def test_nonsense_archs(settings: ModuleType, text: str) -> None:
    with pytest.raises(settings.BuildError, match="TORCH_CUDA_ARCH_LIST holds"):
        settings.parse_archs(text)


@pytest.mark.parametrize(
    ("name", "value"), [("FUSED_O_PROJ_CUDA", "yes"), ("FUSED_O_PROJ_DELAY_PPM", "-1"), ("MAX_JOBS", "many")]
)
def test_nonsense_settings(settings: ModuleType, name: str, value: str) -> None:
    with pytest.raises(settings.BuildError, match=f"{name} is '{value}', wanted"):
        settings.read_settings({name: value})


def test_settings(settings: ModuleType, tmp_path: Path) -> None:
    found = settings.read_settings(
        {
            "FUSED_O_PROJ_CUDA": "1",
            "FUSED_O_PROJ_DELAY_PPM": "300",
            "MAX_JOBS": "3",
            "SOLWATCH_BUILD_CACHE": str(tmp_path),
        }
    )
    assert (found.cuda, found.delay_ppm, found.jobs, found.cache_dir) == ("1", 300, 3, tmp_path)
    assert settings.read_settings({}).cuda == "auto"
    assert settings.read_settings({}).cache_dir is None


def fake_nvcc(folder: Path) -> Path:
    """An executable file named bin/nvcc in ``folder``."""
    path = folder / "bin" / "nvcc"
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_nvcc_is_found_in_cuda_home_first(toolchain: ModuleType, tmp_path: Path) -> None:
    home, other = fake_nvcc(tmp_path / "home"), fake_nvcc(tmp_path / "other")
    path = str(other.parent)
    assert toolchain.find_nvcc({"CUDA_HOME": str(tmp_path / "home"), "PATH": path}) == str(home)
    assert toolchain.find_nvcc({"PATH": path}) == str(other)


def test_nvcc_is_found_among_pip_packages(
    toolchain: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged = fake_nvcc(tmp_path / "nvidia" / "cu13")
    spec = type("Spec", (), {"submodule_search_locations": [str(tmp_path / "nvidia")]})
    monkeypatch.setattr(toolchain.importlib.util, "find_spec", lambda name: spec)
    assert toolchain.find_nvcc({"PATH": ""}) == str(packaged)


def test_nvcc_that_is_insisted_on(settings: ModuleType, toolchain: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_nvcc", lambda environ: None)
    insisting = settings.read_settings({"FUSED_O_PROJ_CUDA": "1"})
    with pytest.raises(settings.BuildError, match="FUSED_O_PROJ_CUDA=1, but nvcc was not found"):
        toolchain.find_toolchain(insisting, {})
    assert toolchain.find_toolchain(settings.read_settings({}), {}).nvcc is None


def test_cache_keeps_whole_files(cache: ModuleType, tmp_path: Path) -> None:
    made = tmp_path / "made.o"
    made.write_bytes(b"object")
    kept = cache.BuildCache(tmp_path / "cache")
    assert not kept.fetch("key", tmp_path / "found.o")
    kept.keep("key", made)
    assert kept.fetch("key", tmp_path / "found.o")
    assert (tmp_path / "found.o").read_bytes() == b"object"
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["key"]


def test_a_full_cache_drops_what_was_not_used_for_longest(cache: ModuleType, tmp_path: Path) -> None:
    made = tmp_path / "made.o"
    made.write_bytes(b"object")
    folder = tmp_path / "cache"
    kept = cache.BuildCache(folder, limit_bytes=18)
    keys = [cache.hash_command([str(number)]) for number in range(5)]
    for number, key in enumerate(keys[:3]):
        kept.keep(key, made)
        os.utime(folder / key, (number, number))
    assert kept.fetch(keys[0], tmp_path / "found.o")
    kept.keep(keys[3], made)
    assert {path.name for path in folder.iterdir()} == {keys[0], keys[2], keys[3]}
    cache.BuildCache(folder, limit_bytes=6).keep(keys[4], made)
    assert [path.name for path in folder.iterdir()] == [keys[4]]


def test_pruning_spares_what_is_not_the_caches(cache: ModuleType, tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("mine", encoding="utf-8")
    left_half_written = tmp_path / f".{cache.hash_command([])}.abc"
    left_half_written.write_bytes(b"half")
    cache.BuildCache(tmp_path, limit_bytes=0).keep(cache.hash_command([]), mine)
    assert list(tmp_path.iterdir()) == [mine]


def test_a_cache_that_is_read_only_is_read(cache: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tmp_path / "made.o"
    made.write_bytes(b"object")
    kept = cache.BuildCache(tmp_path / "cache")
    kept.keep("key", made)

    def refused(path: Path) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(cache.os, "utime", refused)
    assert kept.fetch("key", tmp_path / "found.o")


def test_a_cache_without_a_folder_holds_nothing(cache: ModuleType, tmp_path: Path) -> None:
    made = tmp_path / "made.o"
    made.write_bytes(b"object")
    nothing = cache.BuildCache(None)
    nothing.keep("key", made)
    assert not nothing.fetch("key", tmp_path / "found.o")


def test_hashes_tell_names_and_contents_apart(cache: ModuleType, tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("x", encoding="utf-8")
    second.write_text("y", encoding="utf-8")
    before = cache.hash_sources([first, second], tmp_path)
    assert cache.hash_sources([second, first], tmp_path) == before
    first.write_text("y", encoding="utf-8")
    second.write_text("x", encoding="utf-8")
    assert cache.hash_sources([first, second], tmp_path) != before
    assert cache.hash_command(["ab", "c"]) != cache.hash_command(["a", "bc"])
