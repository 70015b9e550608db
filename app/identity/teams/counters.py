"""Counters of teams."""

from app.kit.counters import Cube, Source
from app.kit.counters.spans import DAY, MONTH

TEAMS = Source(
    "teams",
    ("root", "created"),
    (
        Cube("teams", ("root",)),
        Cube("teams.created.month", ("root",), bucket="created", length=MONTH),
        Cube("teams.created.day", ("root",), bucket="created", length=DAY),
    ),
)
"""Source of the team counters; `root` is true for a team that has no parent."""
