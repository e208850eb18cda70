"""CUDA architectures: what runs where, and one list to build."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solwatch.model.architecture import build_list, runs_on


@pytest.mark.parametrize(
    ("architecture", "capability", "runs"),
    [
        ("9.0a", (9, 0), True),
        ("9.0a", (10, 0), False),
        ("9.0a+PTX", (10, 0), False),
        ("8.0", (8, 0), True),
        ("8.0", (8, 9), True),
        ("8.6", (8, 0), False),
        ("8.0", (9, 0), False),
        ("8.0+PTX", (9, 0), True),
        ("9.0+PTX", (8, 9), False),
        ("10.0f", (10, 3), True),
        ("10.0f", (12, 0), False),
        ("10.0f+PTX", (12, 0), False),
        ("12.0", (12, 1), True),
    ],
)
def test_what_runs_where(architecture: str, capability: tuple[int, int], runs: bool) -> None:
    assert runs_on(architecture, capability) is runs


def test_a_name_that_is_none_is_no_architecture() -> None:
    with pytest.raises(ValueError, match=r"'sm_90' is no CUDA architecture"):
        runs_on("sm_90", (9, 0))


@pytest.mark.parametrize(
    ("architectures", "built"),
    [
        ([], ""),
        (["9.0a", "8.0", "9.0a"], "8.0;9.0a"),
        (["12.0", "9.0a", "10.0f", "8.6"], "8.6;9.0a;10.0f;12.0"),
        (["9.0", "9.0+PTX"], "9.0+PTX"),
        (["9.0a", "9.0+PTX"], "9.0+PTX;9.0a"),
    ],
)
def test_one_list_to_build(architectures: list[str], built: str) -> None:
    assert build_list(architectures) == built


@given(st.lists(st.sampled_from(["8.0", "8.6", "9.0a", "9.0", "9.0+PTX", "10.0f", "12.0"])).flatmap(st.permutations))
def test_the_list_does_not_depend_on_the_order(architectures: list[str]) -> None:
    assert build_list(architectures) == build_list(sorted(architectures))
