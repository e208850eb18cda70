"""A plan in three lines, and as the outputs of a step."""

import msgspec

from solwatch.model.ci_plan import Plan
from solwatch.model.plain import plain
from solwatch.render.units import ABSENT


def render_plan(plan: Plan) -> str:
    """Return whether measuring is needed and why, then the two commits."""
    word = "needed" if plan.needed else "not needed"
    return f"{word}: {plain(plan.reason)}\nbase: {plan.base or ABSENT}\nhead: {plan.head or ABSENT}"


def plan_outputs(plan: Plan) -> dict[str, str]:
    """Return name -> value; a commit that isn't there is empty."""
    return {
        "base": plan.base or "",
        "head": plan.head or "",
        "needed": "true" if plan.needed else "false",
        "reason": plain(plan.reason),
        "plan": msgspec.json.encode(plan).decode(),
    }
