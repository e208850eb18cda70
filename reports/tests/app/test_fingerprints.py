"""Times of different devices or software are never compared in silence."""

import msgspec
import pytest
from fakes.records import H200

from solwatch.app.fingerprints import ENVIRONMENT_FIELDS, Fingerprints
from solwatch.model.errors import ExitCode, MachineError

OTHER_TORCH = msgspec.structs.replace(H200, torch="2.11.0", cuda="12.9")
OTHER_DRIVER = msgspec.structs.replace(H200, driver="570.1")


def test_equal_ones_and_another_card_of_the_same_model_pass() -> None:
    known = Fingerprints()
    known.check("head", H200)
    known.check("base", H200)
    known.check("head", msgspec.structs.replace(H200, uuid="GPU-another"))
    assert known.of("base") == H200
    assert known.of("nobody") is None


@pytest.mark.parametrize(("other", "said"), [(OTHER_TORCH, "torch: 2.13.0 != 2.11.0"), (OTHER_DRIVER, "570.1")])
def test_sides_that_differ_are_refused_and_the_difference_named(other: object, said: str) -> None:
    known = Fingerprints()
    known.check("head", H200)
    with pytest.raises(MachineError, match=said) as caught:
        known.check("base", other)
    assert caught.value.exit_code == ExitCode.UNTRUSTED


def test_a_side_that_changes_between_rounds_is_refused_even_where_the_sides_may_differ() -> None:
    known = Fingerprints(ENVIRONMENT_FIELDS)
    known.check("head", H200)
    with pytest.raises(MachineError, match=r"head.*changed while measuring \(.*torch: 2.13.0 != 2.11.0"):
        known.check("head", OTHER_TORCH)


def test_environments_may_differ_in_torch_and_cuda_alone() -> None:
    known = Fingerprints(ENVIRONMENT_FIELDS)
    known.check("base", OTHER_TORCH)
    known.check("head", H200)
    known = Fingerprints(ENVIRONMENT_FIELDS)
    known.check("base", OTHER_DRIVER)
    with pytest.raises(MachineError, match="driver"):
        known.check("head", H200)
