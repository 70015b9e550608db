"""Request bodies for bulk actions on artifacts."""

from app.documents.artifacts.schemas.documents import ArtifactFilters
from app.kit.api import bulk
from app.kit.api.alternatives import AlternativesSchema
from app.kit.api.fields import Bool, Int, Nested


class ArtifactSelection(AlternativesSchema):
    """The artifacts to change: up to 1,000 by id, or all artifacts that match a filter.

    `expected_count` is required with a filter. If the filter matches a different number of
    artifacts, no artifact is changed, and the response is 409.
    """

    alternatives = (("artifact_ids",), bulk.BY_FILTER)

    artifact_ids = bulk.build_ids_field()
    filter = Nested(ArtifactFilters)
    expected_count = Int()


class BulkArchive(ArtifactSelection):
    """The artifacts to archive or, with `archived: false`, to unarchive."""

    archived = Bool(load_default=True)
