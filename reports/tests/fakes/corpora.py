"""Corpora made of chosen times, as a recording would have written them."""

from collections.abc import Sequence
from pathlib import Path

from fakes.records import FakeCell, record

from solwatch.app.condensing import condensed
from solwatch.model.corpus import Corpus, CorpusHeader
from solwatch.workspace.corpus import CORPUS_SCHEMA, CorpusWriter


def corpus(cells: Sequence[FakeCell], *, label: str = "a/a", rounds: int = 16, seed: int = 1) -> Corpus:
    """Return a corpus of ``cells``; the same seed gives the same one."""
    made = record(cells, rounds=rounds, seed=seed, samples=80)
    header = made.header
    assert header.base is not None
    return Corpus(
        header=CorpusHeader(
            corpus=CORPUS_SCHEMA,
            solwatch=header.solwatch,
            command="solwatch record main HEAD",
            created_at=header.created_at,
            machine=header.machine,
            label=label,
            occasion="made for a test",
            seed=seed,
            head=header.head,
            base=header.base,
            turns=2,
            block_s=0.01,
            fingerprint=header.fingerprint,
            ceilings=header.ceilings,
            cells=header.cells,
            work=header.work,
            config=header.config,
        ),
        rounds=[condensed(each, header.cells) for each in made.rounds],
    )


def write(path: Path, made: Corpus) -> Path:
    """Write ``made`` to ``path``."""
    with CorpusWriter.begin(path, made.header) as writer:
        for each in made.rounds:
            writer.append(each)
    return path
