"""Errors of creating and reading documents."""

from uuid import UUID

from app.kit.errors import ApiError, conflict


def duplicate(artifact_id: UUID) -> ApiError:
    """Return the 409 for content that the organization already has."""
    return ApiError(
        "artifact_duplicate",
        "The organization already has a document with the same content.",
        details={"artifact_id": str(artifact_id)},
    )


def unsupported(declared: str | None, detected: str | None) -> ApiError:
    """Return the 415 for content of a type that cannot be read."""
    return ApiError(
        "unsupported_media_type",
        "This media type is not supported.",
        field="file",
        details={"declared": declared, "detected": detected},
    )


def not_ready(state: str) -> ApiError:
    """Return the 409 for a document without text and pages: still in processing, or failed."""
    if state == "failed":
        return conflict(
            "The document could not be read. Reprocess it, or upload another file.", state=state
        )
    return conflict("The document is still being processed. Try again shortly.", state=state)
