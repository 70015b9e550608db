"""Request bodies of tag sets."""

from uuid import UUID

from marshmallow import ValidationError
from marshmallow.validate import Length

from app.kit.api.fields import (
    NOT_BLANK,
    UUID_PATTERN,
    Bool,
    Data,
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
    """The source of the draft's initial tags: none, a prediction, or another tag set."""

    source = Str(
        data_key="from",
        load_default="empty",
        max_length=36,
        description=(
            "`empty` for no tags, `prediction` for the tags in the latest prediction, or the id of"
            " the tag set whose tags are copied."
        ),
    )


class ReplaceTags(Schema):
    """All tags of the draft, and the revision that they are based on."""

    tags = Tags(required=True)
    revision = Int(
        description="The revision that the client has read. Omit it if If-Match contains it."
    )
    seconds_spent = Int(description="Total working time in seconds. If omitted, it is unchanged.")


class AcceptTagSet(Schema):
    """An acceptance, with optional corrections."""

    tags = Tags(
        description=(
            "The complete list of tags after the reviewer's corrections. If omitted, the tags stay"
            " unchanged."
        )
    )
    note = Str(max_length=5000)
    revision = Int()


def _check_not_blank(value: str) -> None:
    if not value.strip():
        raise ValidationError("Must not be blank.")


class Recipient(Str):
    """A field that accepts `labeler`, `pool` or a user's id, and normalizes the id."""

    def _deserialize(self, value: object, attr: str | None, data: Data, **options: object) -> str:
        recipient = super()._deserialize(value, attr, data, **options)
        if recipient in ("labeler", "pool"):
            return recipient
        try:
            return str(UUID(recipient))
        except ValueError:
            raise ValidationError("Must be `labeler`, `pool` or a user's id.") from None


class RejectTagSet(Schema):
    """A rejection, its reason, and the next labeler."""

    reason = Str(required=True, max_length=5000, validate=_check_not_blank, metadata=NOT_BLANK)
    send_to = Recipient(
        load_default="labeler",
        max_length=45,
        metadata={"pattern": f"^(labeler|pool|{UUID_PATTERN})$"},
        description=(
            "Who labels the artifact next: `labeler` (the labeler of this tag set), `pool` (another"
            " labeler), or the id of a member."
        ),
    )
    revision = Int()


class ReopenTagSet(Schema):
    """The reason for reopening, and whether the tag set goes to review or to its labeler."""

    reason = Str(required=True, max_length=5000, validate=_check_not_blank, metadata=NOT_BLANK)
    to = Str(
        load_default="review",
        validate=OneOf(("review", "labeler")),
        description=(
            "`review`: the tag set is pending review again. `labeler`: the tag set returns to its"
            " labeler as a draft."
        ),
    )
    revision = Int()


class MergeChoice(Schema):
    """The tag set from which the merge copies the tags for one field and row.

    If the tag set has no value for the field and row, the merge has no value either.
    """

    field = Str(required=True, description="A field's key, or `table.column`.")
    row = Int(load_default=None, allow_none=True)
    tag_set_id = Uuid(required=True)


class MergeTagSets(Schema):
    """Tag sets of one artifact, and how to merge them."""

    tag_set_ids = List(Uuid(), required=True, max_items=20, validate=Length(min=2))
    strategy = Str(
        load_default="majority",
        validate=OneOf(("majority", "choose")),
        description=(
            "How to decide fields that have no entry in `choices` or `tags`. `majority`: use the"
            " values that more than half of the tag sets have. `choose`: use only values that all"
            " tag sets have. If a field stays undecided, the request fails and lists the field in"
            " `details.undecided`."
        ),
    )
    choices = List(Nested(MergeChoice), max_items=5000)
    tags = Tags(
        description=(
            "The reviewer's own tags. They replace the tag sets' values for the same field and row."
        )
    )
    accept = Bool(load_default=False, description="Accept the merge immediately.")
    note = Str(max_length=5000)
