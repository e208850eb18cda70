"""Facts read off this machine and off made-up compilers."""

import importlib.metadata
import os

import pytest

from solwatch.app.doctor_facts import cpp_compiler, cuda_compiler, free_bytes, torch_facts


@pytest.fixture
def tool(tmp_path):
    def make(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n/bin/cat <<'END'\n{text}\nEND\n")
        path.chmod(0o755)
        return path

    return make


def test_torch_is_read_without_being_imported():
    facts = torch_facts()
    assert facts is not None
    assert facts.version == importlib.metadata.version("torch")


def test_the_cpp_compiler_is_the_one_that_cxx_names(tool, tmp_path):
    tool("my-c++", "my-c++ 9.9.9\nall rights")
    found = cpp_compiler({"CXX": "my-c++ -m64", "PATH": str(tmp_path)})
    assert (found.path, found.version) == (str(tmp_path / "my-c++"), "my-c++ 9.9.9")
    assert cpp_compiler({"CXX": "absent-c++", "PATH": str(tmp_path)}) is None


def test_cuda_home_comes_before_path(tool, tmp_path):
    tool("home/bin/nvcc", "Cuda compilation tools, release 13.0, V13.0.88")
    tool("path/nvcc", "Cuda compilation tools, release 12.4, V12.4.99")
    environment = {"CUDA_HOME": str(tmp_path / "home"), "PATH": f"{tmp_path / 'path'}{os.pathsep}/usr/bin:/bin"}
    assert cuda_compiler(environment).version == "13.0.88"
    del environment["CUDA_HOME"]
    assert cuda_compiler(environment).version == "12.4.99"


def test_a_compiler_that_tells_no_version(tool, tmp_path):
    tool("nvcc", "hello")
    found = cuda_compiler({"PATH": f"{tmp_path}{os.pathsep}/usr/bin:/bin"})
    assert found.path == str(tmp_path / "nvcc")
    assert found.version is None


def test_free_space_of_a_folder_that_does_not_exist_yet(tmp_path):
    assert free_bytes(tmp_path / "not" / "yet") > 0
