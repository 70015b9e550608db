"""SQL condition for tag sets whose values a person has checked."""

from sqlalchemy import ColumnElement, or_

from app.workflow.tag_sets.models import TagSet

_UNCHANGED_REVISION = 3
"""The revision of a tag set that was created, submitted and accepted, and was never saved."""


def build_checked_condition() -> ColumnElement[bool]:
    """Build the condition that a person has checked the values of an accepted tag set.

    The condition is false only for a tag set that was started from a prediction, was submitted
    without a save, and was accepted without a reviewer.
    """
    return or_(
        TagSet.prediction_id.is_(None),
        TagSet.reviewer_id.is_not(None),
        TagSet.revision > _UNCHANGED_REVISION,
    )
