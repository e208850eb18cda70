"""The GPUs that CUDA shows, asked of a driver library that is really loaded."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fakes.cuda_driver import fake_driver

ASK = """
import json
from solwatch.device.cards import visible_cards
from solwatch.model.errors import MachineError
try:
    print(json.dumps([[card.name, *card.capability] for card in visible_cards()]))
except MachineError as error:
    print(json.dumps(str(error)))
"""


def asked(library: Path, **variables: str) -> object:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library), **variables}
    done = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fake_driver(tmp_path_factory.mktemp("driver"))


def test_names_and_capabilities_in_cudas_order(driver: Path) -> None:
    assert asked(driver, FAKE_GPUS="a mb") == [["Example", 9, 0], ["Example MIG 1g.10gb", 9, 0]]
    assert asked(driver, FAKE_GPUS="") == []


def test_a_driver_that_fails_says_where(driver: Path) -> None:
    said = asked(driver)
    assert said == "the CUDA driver fails at cuInit: no CUDA-capable device is detected (100)"


def test_a_library_that_is_no_driver(tmp_path: Path) -> None:
    (tmp_path / "libcuda.so.1").write_text("no library")
    said = asked(tmp_path)
    assert said == "the CUDA driver is not installed: libcuda.so.1 can't be loaded"
