"""A finished bisection as JSON."""

import msgspec

from solwatch.model.bisection import Found
from solwatch.render.json import render_document

SCHEMA_VERSION = 1
"""Grows when a field goes or changes its meaning; new fields alone don't change it."""


class BisectionDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A bisection as a program reads it: what was asked, the commits, every gate, the answer for each slower cell."""

    schema_version: int
    bisection: Found


def render_bisected_json(found: Found) -> bytes:
    """Return the answer as harmless JSON."""
    return render_document(BisectionDocument(schema_version=SCHEMA_VERSION, bisection=found))
