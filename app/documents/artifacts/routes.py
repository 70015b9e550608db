"""Routes for artifacts."""

from typing import Any
from uuid import UUID

from app.documents.artifacts.models.documents import ArtifactRow
from app.documents.artifacts.queries import listing
from app.documents.artifacts.queries.reading import TextRow
from app.documents.artifacts.schemas import documents
from app.documents.artifacts.schemas.contents import ArtifactText, DocumentPage
from app.documents.artifacts.schemas.stats import ArtifactStats, ArtifactStatsFilters
from app.documents.artifacts.service import (
    bulk,
    counting,
    creating,
    images,
    reading,
    reprocessing,
    updating,
)
from app.engines.documents.media import MEDIA_TYPES
from app.kit import errors
from app.kit.api.blueprint import MIB, Blueprint, File, Listing
from app.kit.api.bulk import BulkResult
from app.kit.api.responses import Download
from app.kit.pagination import Page
from app.kit.permissions import Role
from app.kit.principal import Caller

blueprint = Blueprint("artifacts", description="The documents that are labeled.")


@blueprint.get(
    "/artifacts",
    permission="artifacts:read",
    query=Listing(
        sort_keys=("-created_at", "name", "priority", "updated_at"),
        filters=documents.ArtifactFilters,
    ),
    returns=documents.ArtifactSummary,
)
def list_artifacts(caller: Caller, query: dict[str, Any]) -> Page:
    """List artifacts.

    The list can be filtered, searched by words (`q`) and sorted. Archived artifacts are excluded by
    default. Only reviewers may filter by `gold`.
    """
    # Labelers who know which documents are gold would label them more carefully.
    if "gold" in query and not caller.has_role(Role.reviewer):
        raise errors.denied("Only reviewers may filter by `gold`.")
    return listing.list_artifacts(**query)


@blueprint.post(
    "/artifacts",
    permission="artifacts:create",
    body=documents.CreateArtifact,
    max_body=16 * MIB,
    upload=documents.UploadArtifact,
    returns=documents.Artifact,
    status=201,
)
def create_artifact(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
    """Create an artifact.

    Creates an artifact from a file or a text. Content that the organization already has is refused
    with 409 `artifact_duplicate`.
    """
    return creating.create(created_by=caller.user_id, **body)


@blueprint.get("/artifacts/{artifact_id}", permission="artifacts:read", returns=documents.Artifact)
def get_artifact(caller: Caller, artifact_id: UUID) -> tuple[object, ...]:
    """Get an artifact.

    Returns the metadata, status, assignees and claim of the document.
    """
    return reading.get_api_row(artifact_id)


@blueprint.patch(
    "/artifacts/{artifact_id}",
    permission="artifacts:update",
    body=documents.UpdateArtifact,
    returns=documents.Artifact,
    revision="optional",
)
def update_artifact(
    caller: Caller, artifact_id: UUID, body: dict[str, Any], revision: int | None
) -> ArtifactRow:
    """Update an artifact.

    Changes the name, schema, external id, metadata, priority, due time, gold flag or archived flag.
    Archiving ends the claim.
    """
    return updating.update(artifact_id, revision=revision, changes=body, by=caller.user_id)


@blueprint.delete("/artifacts/{artifact_id}", permission="artifacts:delete", revision="optional")
def delete_artifact(caller: Caller, artifact_id: UUID, revision: int | None) -> None:
    """Delete an artifact.

    Deletes the artifact with its tag sets and files.
    """
    bulk.delete(artifact_id, revision)


@blueprint.get(
    "/artifacts/{artifact_id}/content",
    permission="artifacts:read",
    returns=File(tuple(MEDIA_TYPES)),
)
def download_artifact(caller: Caller, artifact_id: UUID) -> Download:
    """Download the content of an artifact.

    Returns the original bytes. Range requests are supported.
    """
    return reading.download(artifact_id)


@blueprint.get("/artifacts/{artifact_id}/text", permission="artifacts:read", returns=ArtifactText)
def get_artifact_text(caller: Caller, artifact_id: UUID) -> TextRow:
    """Get the text of an artifact.

    Returns the extracted text. Offsets count code points. The text does not change until the
    artifact is reprocessed, even in later versions of the service.
    """
    return reading.get_text(artifact_id)


@blueprint.get(
    "/artifacts/{artifact_id}/pages",
    permission="artifacts:read",
    query=Listing(sort_keys=("number",)),
    returns=DocumentPage,
)
def list_artifact_pages(caller: Caller, artifact_id: UUID, query: dict[str, Any]) -> Page:
    """List the pages of an artifact.

    Returns the size, rotation and words of each page, with the box of each word.
    """
    return reading.list_pages(artifact_id, **query)


@blueprint.get(
    "/artifacts/{artifact_id}/pages/{page_number}/image",
    permission="artifacts:read",
    query=documents.PageImageQuery,
    returns=File(("image/png", "image/jpeg", "image/webp")),
    integer_parameters=("page_number",),
)
def get_artifact_page_image(
    caller: Caller, artifact_id: UUID, page_number: int, query: dict[str, Any]
) -> Download:
    """Get the image of a page.

    Renders one page as an image of the given width and format.
    """
    return images.get_page_image(artifact_id, page_number, **query)


@blueprint.post(
    "/artifacts/{artifact_id}/reprocess",
    permission="artifacts:update",
    returns=documents.Artifact,
    status=202,
    revision="optional",
)
def reprocess_artifact(caller: Caller, artifact_id: UUID, revision: int | None) -> ArtifactRow:
    """Reprocess an artifact.

    Reads text and pages from the file again. Text, offsets and boxes may change. An artifact with
    tag sets of any status is therefore refused with 409 `conflict` and `details.tag_sets`: the
    evidence of these tag sets would point to other words. Discard drafts first. The response is 409
    with `details.state` if the artifact is archived or `processing`. The claim ends, and the status
    is `processing` until the file has been read. An ingestion job with the kind `reprocess` and one
    item shows the progress, and can be retried.
    """
    return reprocessing.reprocess_as_job(artifact_id, revision=revision, by=caller.user_id)


@blueprint.get(
    "/artifacts/stats",
    permission="artifacts:read",
    query=ArtifactStatsFilters,
    returns=ArtifactStats,
)
def get_artifact_stats(caller: Caller, query: dict[str, Any]) -> dict[str, Any]:
    """Get artifact statistics.

    Returns the number of artifacts by status, schema and age.
    """
    return counting.get_stats(query)


@blueprint.post(
    "/artifacts/bulk-archive",
    permission="artifacts:update",
    limit="artifact_actions",
    body=documents.BulkArchive,
    returns=BulkResult,
)
def bulk_archive_artifacts(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
    """Archive artifacts.

    Archives up to 1,000 artifacts by id, or all artifacts that match a filter. With
    `archived: false`, unarchives the artifacts.
    """
    return bulk.archive_many(by=caller.user_id, **body)


@blueprint.post(
    "/artifacts/bulk-delete",
    permission="artifacts:delete",
    limit="artifact_actions",
    body=documents.ArtifactSelection,
    returns=BulkResult,
)
def bulk_delete_artifacts(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
    """Delete artifacts.

    Deletes up to 1,000 artifacts by id, or all artifacts that match a filter, with their tag sets
    and files.
    """
    return bulk.delete_many(**body)
