"""The events that usage meters emit."""

from typing import TypedDict

from app.kit.events import EventName


class ThresholdPayload(TypedDict):
    """The payload of `THRESHOLD_REACHED`; `month` is the first day of the month."""

    meter: str
    percent: int
    used: int
    limit: int
    plan: str
    month: str


THRESHOLD_REACHED = EventName[ThresholdPayload]("usage.threshold_reached")
"""Emitted at most once per meter, month and percentage of the limit that the meter has reached."""
