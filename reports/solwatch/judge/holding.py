"""What min effect a machine can hold, from the scatter of a gate of equal builds: what a selftest lets it claim."""

import bisect

from solwatch.judge.calibration import CAUGHT, STEPS
from solwatch.judge.judgement import Judgement
from solwatch.judge.resampling import Held, caught_shares
from solwatch.judge.series import log_ratios
from solwatch.judge.two_stage import TwoStage
from solwatch.model.config import Config

GATES = 200


def held_min_effect(judgement: Judgement, config: Config, *, usual: float, rounds: int, seed: int) -> float:
    """Return the smallest min effect, ``usual`` or a larger step, that gates of ``rounds`` rounds catch almost surely.

    ``judgement``: of a gate of equal builds of the same cells. They are loops of equal steps and scatter alike: each
    gate is drawn from the rounds of all, some dozens, since a cell's own few would not know the tails. ``usual``
    where no step is held, or no cell has a ratio: the gate then leaves open what it can't catch.
    """
    # The noisy cells are measured for longer: only rounds that have all cells show how often noise comes.
    whole = min((len(facts.rounds) for facts in judgement.facts.values()), default=0)
    ratios = [ratio for facts in judgement.facts.values() for ratio in log_ratios(facts.rounds[:whole])]
    if not ratios:
        return usual
    recorded = dict.fromkeys(judgement.facts, ratios)
    rule = TwoStage.from_config(config)

    def is_caught(size: float) -> bool:
        held = Held(size, config.margin_fraction * size, size, rounds)
        shares = caught_shares(recorded, dict.fromkeys(recorded, held), rule, gates=GATES, seed=seed)
        return min(shares.values()) >= CAUGHT

    sizes = [usual, *(step for step in STEPS if step > usual)]
    first = bisect.bisect_left(sizes, True, key=is_caught)
    return sizes[first] if first < len(sizes) else usual
