"""Counters of members."""

from app.kit.counters import Cube, Source
from app.kit.counters.spans import DAY, MONTH

MEMBERS = Source(
    "members",
    ("role", "joined"),
    (
        Cube("members", ("role",)),
        Cube("members.joined.month", ("role",), bucket="joined", length=MONTH),
        Cube("members.joined.day", ("role",), bucket="joined", length=DAY),
    ),
)
