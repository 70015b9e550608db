"""The columns of an artifact that the API shows."""

from sqlalchemy import case, cast, func, inspect
from sqlalchemy.dialects.postgresql import JSONB

from app.documents.artifacts.models.documents import Artifact

_ISO = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
_LIVE = Artifact.claim_expires_at > func.now()
_CLAIM = case(
    (
        _LIVE,
        func.jsonb_build_object(
            "user_id",
            Artifact.claim_user_id,
            "expires_at",
            func.to_char(func.timezone("UTC", Artifact.claim_expires_at), _ISO),
        ),
    )
)
# Page texts are joined by form feeds. A text longer than the form feeds has at least one word.
HAS_TEXT_LAYER = case(
    (Artifact.page_count.is_not(None), Artifact.text_length > Artifact.page_count - 1)
).label("has_text_layer")
_HIDDEN = frozenset(
    {"organization_id", "claim_user_id", "claim_expires_at", "labeled_by", "reserved_for"}
    | {"nearly_due", "routing_since", "ingested_at"}
)
ARTIFACT_COLUMNS = (
    *(
        column.label("metadata") if column.key == "meta" else column
        for attribute in inspect(Artifact).column_attrs
        if (column := getattr(Artifact, attribute.key)).key not in _HIDDEN
    ),
    HAS_TEXT_LAYER,
    cast(_CLAIM, JSONB).label("claim"),
)
"""The columns of an artifact that the API shows, named like the JSON members."""
