"""The plot of ``record``: measure rounds as the gate does, judge nothing, keep them in a corpus."""

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path

from solwatch.app.condensing import condensed
from solwatch.app.gate import GATE_PLANS
from solwatch.app.measuring import with_vanished
from solwatch.app.rounds import Plan, RoundRunner
from solwatch.app.session import Request, Services, Session, session
from solwatch.model.corpus import Corpus, CorpusHeader, CorpusRound
from solwatch.model.errors import NothingMeasuredError, RequestError, SolwatchError
from solwatch.workspace.corpus import CORPUS_SCHEMA, CorpusWriter, begun_corpus, kept_rounds


@dataclass(frozen=True, kw_only=True)
class Recording:
    """What was asked: ``rounds`` rounds in ``path``, those it has already included; ``None``: no limit of time.

    ``continued_by``: what is said of a file whose rounds are not all there.
    """

    request: Request
    rounds: int
    path: Path
    label: str = ""
    occasion: str = ""
    budget_s: float | None = None
    continued_by: str = "the same command measures the others"


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What the file holds now. ``wall_s``: the sum of its rounds."""

    path: Path
    rounds: int
    wanted: int
    cells: int
    size_bytes: int
    wall_s: float


def record(asked: Recording, services: Services) -> Recorded:
    """Measure the rounds that the file lacks and add them to it; raises ``RequestError`` where they don't belong."""
    begun = begun_corpus(asked.path)
    request = _with_seed(asked.request, begun)
    with session(request, services) as ready:
        header = _header(asked, ready)
        if not ready.survey.cells:
            raise NothingMeasuredError(f"head has none of the cells: {ready.survey.vanished[0].failure.message}")
        if begun is not None:
            _require_same(asked.path, begun.header, header)
        corpus = begun or Corpus(header=header, rounds=[])
        with CorpusWriter.begin(asked.path, header) if begun is None else CorpusWriter.resume(asked.path) as writer:
            try:
                _measure(asked, services, ready, corpus, writer)
            except (KeyboardInterrupt, SolwatchError):
                count = kept_rounds(asked.path)  # the file's own: a signal may come right after a line was written
                held = f"{count} round{'s' if count != 1 else ''}"
                services.say(f"{asked.path} keeps {held}: {asked.continued_by}")
                raise
    _require_times(corpus)
    return Recorded(
        path=asked.path,
        rounds=len(corpus.rounds),
        wanted=asked.rounds,
        cells=len(corpus.header.cells),
        size_bytes=asked.path.stat().st_size,
        wall_s=sum(each.wall_s for each in corpus.rounds),
    )


def _with_seed(request: Request, begun: Corpus | None) -> Request:
    """Let a file that is continued keep its seed: with another one its rounds would not be one sequence of coins."""
    if begun is None or request.seed is not None:
        return request
    return dataclasses.replace(request, seed=begun.header.seed)


def _measure(asked: Recording, services: Services, ready: Session, corpus: Corpus, writer: CorpusWriter) -> None:
    assert ready.base is not None, "a recording is of two sides"
    clock, budget_s = services.clock, asked.budget_s or math.inf
    started_s = clock.monotonic()
    first = corpus.rounds[-1].index + 1 if corpus.rounds else 0
    last = first + asked.rounds - len(corpus.rounds)
    with (
        services.progress(last, budget_s) as progress,
        RoundRunner(ready.bench, ready.head.side, ready.base.side, clock=clock) as runner,
    ):
        for index in range(first, last):
            # A round is begun only when it will probably end within the budget; the first one always is.
            spent_s = clock.monotonic() - started_s
            if index > first and spent_s + corpus.rounds[-1].wall_s > budget_s:
                return
            progress.round(index)
            plan = _plan(ready, started_s + budget_s, more=index + 1 < last)
            measured = runner.run(index, ready.survey.cells, plan, on_cell=progress.cell)
            kept = condensed(with_vanished(measured, ready.survey), corpus.header.cells)
            writer.append(kept)
            corpus.rounds.append(kept)


def _plan(ready: Session, retry_until_s: float, *, more: bool) -> Plan:
    return dataclasses.replace(GATE_PLANS[ready.device_type], retry_until_s=retry_until_s, more=more)


def _header(asked: Recording, ready: Session) -> CorpusHeader:
    header, plan = ready.header, GATE_PLANS[ready.device_type]
    assert header.base is not None, "a recording is of two sides"
    return CorpusHeader(
        corpus=CORPUS_SCHEMA,
        solwatch=header.solwatch,
        command=header.command,
        created_at=header.created_at,
        machine=header.machine,
        label=asked.label,
        occasion=asked.occasion,
        seed=header.seed,
        head=header.head,
        base=header.base,
        turns=plan.turns,
        block_s=plan.block_s,
        fingerprint=header.fingerprint,
        ceilings=header.ceilings,
        cells=header.cells,
        work=header.work,
        config=header.config,
        notes=header.notes,
        base_fingerprint=header.base_fingerprint,
        head_env=header.head_env,
        base_env=header.base_env,
    )


def _require_same(path: Path, begun: CorpusHeader, now: CorpusHeader) -> None:
    differences = begun.differences(now)
    if differences:
        raise RequestError(
            f"{path} can't be continued, its rounds were measured otherwise ({'; '.join(differences)}): "
            "give another --output, or measure as it was begun"
        )


def _require_times(corpus: Corpus) -> None:
    if any(_has_times(each) for each in corpus.rounds):
        return
    failure = next((each for kept in corpus.rounds for each in kept.failures), None)
    why = f": {('head', 'base')[failure.side]} {failure.kind}: {failure.message}" if failure else ""
    raise NothingMeasuredError(f"no cell was measured on either side{why}")


def _has_times(kept: CorpusRound) -> bool:
    return bool(kept.blocks) and kept.time_ns is not None
