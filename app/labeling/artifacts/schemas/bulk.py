"""Bodies of bulk actions on documents."""

from typing import Any

from marshmallow import validates_schema

from app.kit.api import bulk
from app.kit.api.fields import Bool, Int, Nested, Schema
from app.labeling.artifacts.schemas.documents import ArtifactFilters


class ArtifactSelection(Schema):
    """Which documents: up to 1,000 by id, or all that a filter finds, with how many the caller
    expects; another number of them changes nothing (409)."""

    artifact_ids = bulk.ids()
    filter = Nested(ArtifactFilters)
    expected_count = Int()

    @validates_schema
    def _one_way(self, data: dict[str, Any], **_: Any) -> None:
        bulk.check_selection(data, "artifact_ids")


class BulkArchive(ArtifactSelection):
    """Which documents to archive, or with `archived: false` to take back."""

    archived = Bool(load_default=True)
