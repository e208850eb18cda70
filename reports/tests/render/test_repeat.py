"""The commands that repeat a run."""

import msgspec
import pytest
from fakes.records import FakeCell, commit, record

from solwatch.model.record import Environment, RecordHeader
from solwatch.render.placing import Place, place_of
from solwatch.render.repeat import repeat_lines


def header(command: str, *, alone: bool = False) -> RecordHeader:
    taken = record([FakeCell(key="a")], rounds=1, seed=7, alone=alone)
    return msgspec.structs.replace(taken.header, command=command)


@pytest.mark.parametrize(
    ("command", "repeated"),
    [
        ("solwatch gate main HEAD", "solwatch gate 9a7e5eed009a 4be1c0ffee4b --seed 7"),
        ("solwatch bench --rounds 4", "solwatch gate 9a7e5eed009a 4be1c0ffee4b --rounds 4 --seed 7"),
        (
            "solwatch ci gate main HEAD --builds builds --entry h200 --trial 2 --device cuda --github --seed 3",
            "solwatch gate 9a7e5eed009a 4be1c0ffee4b --builds builds --device cuda --seed 7",
        ),
        (
            "solwatch gate main -b 'OProj.*llama' --min-effect=0.02 --measure-all",
            "solwatch gate 9a7e5eed009a 4be1c0ffee4b -b 'OProj.*llama' --min-effect=0.02 --measure-all --seed 7",
        ),
        ("solwatch gate main 'a quote that is", "solwatch gate 9a7e5eed009a 4be1c0ffee4b --seed 7"),
    ],
)
def test_commits_are_named_by_hash_and_options_of_the_pipeline_left_out(command: str, repeated: str) -> None:
    measure, judge = repeat_lines(header(command))
    assert measure.value == repeated
    assert judge.value == "solwatch report 20260304T050000-9a7e5eed-4be1c0ff.jsonl"


def test_head_alone_a_working_tree_and_environments() -> None:
    assert repeat_lines(header("solwatch run", alone=True))[0].value == "solwatch run 4be1c0ffee4b --seed 7"
    dirty = msgspec.structs.replace(commit("4be1c0ffee", "", ""), dirty=True)
    changed = msgspec.structs.replace(header("solwatch gate main --working-tree"), head=dirty)
    assert repeat_lines(changed)[0].value == "solwatch gate 9a7e5eed009a --working-tree --seed 7"
    environments = msgspec.structs.replace(
        header("solwatch gate --base-env /old --head-env /new"),
        base_env=Environment(path="/old", python="3.11"),
        head_env=Environment(path="/new", python="3.11"),
    )
    asked = "solwatch gate 4be1c0ffee4b --base-env /old --head-env /new --seed 7"
    assert repeat_lines(environments)[0].value == asked


def test_a_cell_s_layer_and_size_come_from_its_parameters() -> None:
    info = record([FakeCell(key="suite.Bench(16, 'x')")]).header.cells[0]

    def placed(**parameters: str) -> Place:
        return place_of(msgspec.structs.replace(info, param_names=list(parameters), params=list(parameters.values())))

    assert placed(tokens="16", layer="'llama'") == Place("llama", 16.0, "tokens", "tokens 16, layer llama")
    assert placed(kind="'a'", layer="'llama'", n="1e3") == Place("llama", 1000.0, "n", "kind a, layer llama, n 1e3")
    assert placed(kind="'a'") == Place("a", None, "", "kind a")
    assert placed(n="nan") == Place("nan", None, "", "n nan")
    assert placed() == Place("suite.Bench", None, "", "")
    assert place_of(None) == Place("–", None, "", "")
