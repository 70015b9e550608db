"""What people send of label sets."""

from typing import Any
from uuid import UUID

from marshmallow import ValidationError
from marshmallow.validate import Length

from app.kit.api.fields import (
    NOT_BLANK,
    UUID_PATTERN,
    Bool,
    Int,
    List,
    Nested,
    OneOf,
    Schema,
    Str,
    Uuid,
)
from app.workflow.tag_sets.schemas.tags import Tags


class CreateTagSet(Schema):
    """What to start from: nothing, or another label set of the same document."""

    source = Str(
        data_key="from",
        load_default="empty",
        max_length=36,
        metadata={
            "description": "`empty`, `prediction` for the tags of the model's latest label"
            " set, or the id of a label set to copy those of."
        },
    )


class ReplaceTags(Schema):
    """All tags of the draft, and the revision that they are based on."""

    tags = Tags(required=True)
    revision = Int(metadata={"description": "The revision that was read; or send If-Match."})
    seconds_spent = Int(metadata={"description": "Working time in all; left as it is if absent."})


class AcceptTagSet(Schema):
    """An acceptance, with corrections if any."""

    tags = Tags(metadata={"description": "The corrected tags, all of them."})
    note = Str(max_length=5000)
    revision = Int()


def _said(value: str) -> None:
    if not value.strip():
        raise ValidationError("Must not be blank.")


class Recipient(Str):
    """`labeler`, `pool`, or a user's id, which is given on in one spelling."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        told = super()._deserialize(value, *args, **kwargs)
        if told in ("labeler", "pool"):
            return told
        try:
            return str(UUID(told))
        except ValueError:
            raise ValidationError("Must be labeler, pool or a user's id.") from None


class RejectTagSet(Schema):
    """A rejection, its reason, and who labels next."""

    reason = Str(required=True, max_length=5000, validate=_said, metadata=NOT_BLANK)
    send_to = Recipient(
        load_default="labeler",
        max_length=45,
        metadata={
            "description": "`labeler`, `pool`, or the id of a member.",
            "pattern": f"^(labeler|pool|{UUID_PATTERN})$",
        },
    )
    revision = Int()


class ReopenTagSet(Schema):
    """Why a verdict is taken back, and where the label set goes."""

    reason = Str(required=True, max_length=5000, validate=_said, metadata=NOT_BLANK)
    to = Str(
        load_default="review",
        validate=OneOf(("review", "labeler")),
        metadata={"description": "`review`: back into the queue; `labeler`: a draft again."},
    )
    revision = Int()


class MergeChoice(Schema):
    """Whose tags a merge holds at a place; none, where that label set is empty there."""

    field = Str(required=True, metadata={"description": "A field's key, or `table.column`."})
    row = Int(load_default=None, allow_none=True)
    tag_set_id = Uuid(required=True)


class MergeTagSets(Schema):
    """Label sets of one document, and how to make one of them."""

    tag_set_ids = List(Uuid(), required=True, max_items=20, validate=Length(min=2))
    strategy = Str(
        load_default="majority",
        validate=OneOf(("majority", "choose")),
        metadata={
            "description": "What stands without a choice: what more than half say, or what all say."
        },
    )
    choices = List(Nested(MergeChoice), max_items=5000)
    tags = Tags(metadata={"description": "Tags of the reviewer's own; they go before all else."})
    accept = Bool(load_default=False, metadata={"description": "Accept the merge at once."})
    note = Str(max_length=5000)
