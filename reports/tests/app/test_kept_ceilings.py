"""Ceilings that only a measurement gives: measured once for a fingerprint, then kept."""

from pathlib import Path

import msgspec
import pytest
from fakes.records import CPU, H200, H200_CEILINGS

from solwatch.app.kept_ceilings import keep_ceilings, kept_ceilings
from solwatch.model.errors import RequestError
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.record import Ceilings


class Processor:
    """Measures ceilings that differ each time, as real ones do; remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, dtypes: list[str]) -> Ceilings:
        self.asked.append(dtypes)
        speed = 1.0 + len(self.asked)
        flops = {dtype: speed * 1e9 for dtype in dtypes if dtype != "int8"}
        return Ceilings(sustained_flops=flops, sustained_bandwidth=speed * 1e10, source="measured")


def test_later_runs_score_against_what_the_first_one_measured(tmp_path: Path) -> None:
    measure = Processor()
    first = kept_ceilings(tmp_path, CPU, ["float32"], measure)
    assert [kept_ceilings(tmp_path, CPU, ["float32"], measure) for _ in range(3)] == [first] * 3
    assert measure.asked == [["float32"]]


def test_a_new_dtype_is_measured_and_moves_nothing_else(tmp_path: Path) -> None:
    measure = Processor()
    first = kept_ceilings(tmp_path, CPU, ["float32"], measure)
    both = kept_ceilings(tmp_path, CPU, ["bfloat16", "float32"], measure)
    assert measure.asked == [["float32"], ["bfloat16"]]
    assert both.sustained_flops == {"float32": first.sustained_flops["float32"], "bfloat16": 3e9}
    assert both.sustained_bandwidth == first.sustained_bandwidth
    assert kept_ceilings(tmp_path, CPU, ["float32"], measure) == first, "what was not asked for is not shown"


@pytest.mark.parametrize("change", [{"model": "another processor"}, {"torch": "2.14.0"}, {"protocol": 2}])
def test_another_fingerprint_is_measured_for_itself(tmp_path: Path, change: dict[str, object]) -> None:
    measure = Processor()
    other: Fingerprint = msgspec.structs.replace(CPU, **change)
    first = kept_ceilings(tmp_path, CPU, ["float32"], measure)
    assert kept_ceilings(tmp_path, other, ["float32"], measure) != first
    assert kept_ceilings(tmp_path, CPU, ["float32"], measure) == first


def test_measuring_again_on_request_replaces_them(tmp_path: Path) -> None:
    measure = Processor()
    kept_ceilings(tmp_path, CPU, ["float32"], measure)
    again = measure(["float32"])
    assert keep_ceilings(tmp_path, CPU, again)
    assert kept_ceilings(tmp_path, CPU, ["float32"], measure) == again


def test_scores_of_a_gpu_rest_on_rated_ceilings_and_nothing_is_kept(tmp_path: Path) -> None:
    for _ in range(2):
        assert kept_ceilings(tmp_path, H200, ["bfloat16"], lambda dtypes: H200_CEILINGS).rated_flops
    assert not keep_ceilings(tmp_path, H200, H200_CEILINGS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"{half", b'{"fingerprint": 3}', b"\xff"])
def test_a_spoilt_file_is_measured_and_written_anew(tmp_path: Path, data: bytes) -> None:
    measure = Processor()
    kept_ceilings(tmp_path, CPU, ["float32"], measure)
    (path,) = tmp_path.iterdir()
    path.write_bytes(data)
    second = kept_ceilings(tmp_path, CPU, ["float32"], measure)
    assert kept_ceilings(tmp_path, CPU, ["float32"], measure) == second
    assert len(measure.asked) == 2


def test_a_home_that_can_not_be_written_costs_no_score(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert kept_ceilings(blocked, CPU, ["float32"], Processor()).sustained_flops
    with pytest.raises(RequestError, match="can't be written"):
        keep_ceilings(blocked, CPU, Ceilings(sustained_bandwidth=1e9))
