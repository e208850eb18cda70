"""Whether this machine is the runner that the fleet's file promises."""

from collections import Counter
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from solwatch.model.architecture import runs_on
from solwatch.model.errors import MachineError
from solwatch.model.fleet import Runner
from solwatch.model.machine import Card, GpuFacts


def check_machine(runner: Runner, cards: Callable[[], Sequence[Card]], gpu: Callable[[], GpuFacts]) -> str:
    """Return in one line what this machine is, which is what ``runner`` promises.

    ``cards`` asks CUDA, ``gpu`` the management library; neither is asked for a runner without a GPU. Raises
    ``MachineError``, one line that begins with "infrastructure", when a promise isn't kept.
    """
    if runner.gpu is None:
        return f"{runner.name}: a runner that measures the CPU, no GPU is promised"
    try:
        seen = cards()
    except MachineError as error:
        raise MachineError(_broken(runner, str(error))) from error
    facts = gpu()
    wrong = [*_wrong_cards(runner, seen), *_wrong_driver(facts)]
    if wrong:
        raise MachineError(_broken(runner, "; ".join(wrong)))
    return f"{runner.name}: {_listed(seen)}, driver {facts.driver}, as promised"


def _wrong_cards(runner: Runner, seen: Sequence[Card]) -> list[str]:
    wrong = []
    matching = [card for card in seen if fnmatchcase(card.name, runner.gpu or "")]
    if len(seen) != runner.gpu_count or len(matching) != len(seen):
        wrong.append(f"it shows {_listed(seen)}")
    for card in dict.fromkeys(matching):
        if not any(runs_on(architecture, card.capability) for architecture in runner.architectures):
            built = ", ".join(runner.architectures)
            wrong.append(f"kernels built for {built} don't run on {card.name} ({_dotted(card)})")
    return wrong


def _wrong_driver(facts: GpuFacts) -> list[str]:
    return [] if facts.driver else [f"the driver's management library gives no answer: {facts.error or 'no version'}"]


def _broken(runner: Runner, wrong: str) -> str:
    return (
        f"infrastructure: runner {runner.name} promises {runner.gpu_count} × {runner.gpu!r} and this machine is not "
        f"that: {wrong}; repair it (nvidia-smi, CUDA_VISIBLE_DEVICES), or take the labels "
        f"{', '.join(runner.labels)} from it"
    )


def _listed(cards: Sequence[Card]) -> str:
    if not cards:
        return "no GPU"
    return ", ".join(f"{count} × {card.name} ({_dotted(card)})" for card, count in Counter(cards).items())


def _dotted(card: Card) -> str:
    return ".".join(map(str, card.capability))
