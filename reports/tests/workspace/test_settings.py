from pathlib import Path
from typing import Any

import pytest

from solwatch.model.config import CellOverride, Config
from solwatch.model.errors import ExitCode, RequestError
from solwatch.workspace.settings import load_config
from solwatch.workspace.tables import domain


def own(root: Path, text: str) -> Path:
    (root / "solwatch.toml").write_text(text)
    return root


def test_defaults_without_a_file_or_a_table(tmp_path: Path) -> None:
    assert load_config(tmp_path) == Config()
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert load_config(tmp_path) == Config()


def test_reads_either_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.solwatch]\nmin_effect = 0.02\nbudget_s = 60\n")
    config = load_config(tmp_path)
    assert (config.min_effect, config.budget_s) == (0.02, 60.0)
    other = tmp_path / "other"
    other.mkdir()
    own(other, "rounds = [4, 8]\n[[cells]]\nmatch = 'o_proj.*'\nsol_floor = 0.5\ngated = false\n")
    config = load_config(other)
    assert config.rounds == [4, 8]
    assert config.cells == [CellOverride(match="o_proj.*", sol_floor=0.5, gated=False)]


def test_both_files_at_once_are_refused(tmp_path: Path) -> None:
    own(tmp_path, "")
    (tmp_path / "pyproject.toml").write_text("[tool.solwatch]\n")
    with pytest.raises(RequestError, match=r"settings in both solwatch.toml and"):
        load_config(tmp_path)


def test_the_command_line_wins_and_none_is_not_given(tmp_path: Path) -> None:
    own(tmp_path, "min_effect = 0.02\nundecided = 'fail'\n")
    config = load_config(tmp_path, {"min_effect": 0.05, "undecided": None})
    assert (config.min_effect, config.undecided) == (0.05, "fail")
    with pytest.raises(
        RequestError, match=r"min_effect = 7 in the command line: allowed is a number above 0 and below 1"
    ):
        load_config(tmp_path, {"min_effect": 7})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("min_efect = 0.1", "unknown setting 'min_efect' in solwatch.toml: the nearest known one is 'min_effect'"),
        ("zzz = 1", "unknown setting 'zzz' in solwatch.toml: the nearest known one is"),
        ("min_effect = 1.5", r"min_effect = 1.5 in solwatch.toml: allowed is a number above 0 and below 1"),
        ("min_effect = nan", "min_effect = nan in solwatch.toml: allowed is a number above 0"),
        ("budget_s = inf", "budget_s = inf in solwatch.toml: allowed is a number above 0"),
        ("budget_s = -1", "budget_s = -1 in solwatch.toml: allowed is a number above 0"),
        ("budget_s = true", "budget_s = True in solwatch.toml: allowed is a number above 0"),
        ("budget_s = 'long'", "budget_s = 'long' in solwatch.toml"),
        ("rounds = []", r"rounds = \[\] in solwatch.toml: allowed is a list with at least 1 of: a whole number of at"),
        ("rounds = [3, 0]", r"rounds = \[3, 0\] in solwatch.toml: allowed is"),
        ("rounds = [8, 4]", r"rounds = \[8, 4\] in solwatch.toml: allowed are growing numbers"),
        ("undecided = 'maybe'", "undecided = 'maybe' in solwatch.toml: allowed is 'fail' or 'pass'"),
        ("build_inputs = 'setup.py'", "build_inputs = 'setup.py' in solwatch.toml: allowed is a list of: text"),
        ("cells = 3", "cells = 3 in solwatch.toml: allowed is a list of tables"),
        ("[[cells]]\nmach = 'x'", r"unknown setting 'cells\[0\].mach' in solwatch.toml: .* is 'match'"),
        ("[[cells]]\ngated = true", r"cells\[0\].match is missing in solwatch.toml"),
        ("[[cells]]\nmatch = 'x'\nsol_floor = 2", r"cells\[0\].sol_floor = 2 in solwatch.toml: allowed is a number"),
        ("margin = 0.02\nmin_effect = 0.01", "margin = 0.02 in .*: allowed is a number below min_effect = 0.01"),
        ("budget_s = x", "solwatch.toml is not valid TOML: .*line 1"),
        ("rounds = [0x1" + "0" * 5000 + "]", "solwatch.toml is not valid TOML: .*4300 digits"),
        ("budget_s = 1e6", "budget_s = 1000000.0 in .*: allowed is a number above 0 and of at most 604800"),
        ("hang_s = 1e300", r"hang_s = 1e\+300 in solwatch.toml: allowed is a number above 0 and of at most 86400"),
        ("min_effect_floor_s = 2", "min_effect_floor_s = 2 in .*: allowed is a number above 0 and of at most 1"),
        ("rounds = [6, 1001]", r"rounds = \[6, 1001\] in .* of: a whole number of at least 1 and of at most 1000"),
        ("rounds = [" + "9" * 5000 + "]", "solwatch.toml"),
        ("rounds = " + "[" * 5000 + "]" * 5000, "solwatch.toml is nested too deeply"),
        ("build_command = []", r"build_command = \[\] in solwatch.toml: allowed is a list with at least 1 of: text"),
        ("build_environment.cpu.'A=B' = '1'", "allowed is .*a variable's name, without = and NUL"),
        ("build_environment.gpu.A = '1'", r"build_environment = .*: allowed is a table with keys \(cpu or cuda\) of: "),
        ("benchmarks = '/etc'", "benchmarks = '/etc' in .*: allowed is a folder under the repository's root"),
        ("results = 'a/../../b'", "results = 'a/../../b' in solwatch.toml: allowed is a folder under"),
        ("report = ''", "report = '' in solwatch.toml: allowed is a folder under"),
        ("records = 'solwatch.toml/sub'", "records = .* in solwatch.toml: .*/solwatch.toml is not a folder: move it"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_value_and_domain(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(RequestError, match=message) as raised:
        load_config(own(tmp_path, text))
    assert "\n" not in str(raised.value)
    assert raised.value.exit_code is ExitCode.USAGE


@pytest.mark.parametrize(
    "setting",
    [
        "cell_set = '{}'", "benchmarks = '{}'", "results = '{}'", "records = '{}'", "report = '{}'",
        "build_inputs = ['{}']", "build_command = ['{}']", "build_environment.cpu.A = '{}'",
        "build_environment.cpu.'{}' = 'a'", "environment = ['{}']", "[[cells]]\nmatch = '{}'",
    ],
)  # fmt: skip
def test_no_text_holds_a_nul(tmp_path: Path, setting: str) -> None:
    text = setting.replace("'{}'", r'"a\u0000b"')
    with pytest.raises(RequestError, match=r"a\\x00b.* in solwatch.toml: allowed is .*NUL"):
        load_config(own(tmp_path, text))


@pytest.mark.parametrize(("text", "name"), [("tool = 3", "tool"), ("[tool]\nsolwatch = 3", r"tool\.solwatch")])
def test_a_table_that_is_none_is_refused(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(RequestError, match=f"^{name} in pyproject.toml must be a table, not 3"):
        load_config(tmp_path)


@pytest.mark.parametrize("kind", ["file", "dangling link", "link to itself"])
def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path, kind: str) -> None:
    build = tmp_path / "build"
    if kind == "file":
        build.write_text("")
    else:
        build.symlink_to("build" if kind == "link to itself" else "nowhere")
    with pytest.raises(RequestError, match=r"results = 'build/asv/results' in .*/build is not a folder: move it away"):
        load_config(tmp_path)


def test_a_folder_may_be_a_link_to_another_disk(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / "build").symlink_to("../disk")
    assert load_config(root) == Config()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (bool, "true or false"),
        (float, "a number"),
        (dict[str, int], "a table with keys (text) of: a whole number"),
        (str | None, "text"),
    ],
)
def test_domains_in_words(kind: Any, words: str) -> None:
    assert domain(kind) == words
