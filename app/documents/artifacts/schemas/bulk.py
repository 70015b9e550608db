"""Bodies of bulk actions on documents."""

from app.documents.artifacts.schemas.documents import ArtifactFilters
from app.kit.api import bulk
from app.kit.api.alternatives import AlternativesSchema
from app.kit.api.fields import Bool, Int, Nested


class ArtifactSelection(AlternativesSchema):
    """Which documents: up to 1,000 by id, or all that a filter finds.

    With a filter the caller says how many are expected; another number changes nothing (409).
    """

    alternatives = (("artifact_ids",), bulk.BY_FILTER)

    artifact_ids = bulk.ids()
    filter = Nested(ArtifactFilters)
    expected_count = Int()


class BulkArchive(ArtifactSelection):
    """Which documents to archive, or with `archived: false` to take back."""

    archived = Bool(load_default=True)
