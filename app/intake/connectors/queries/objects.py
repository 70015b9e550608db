"""SQL queries for the source objects that crawls have handled, and their versions."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy

# Rows are written in the order of the digests, so that two writers cannot deadlock.
_SAVE = text(
    """
    INSERT INTO connector_objects (organization_id, connector_id, digest, version)
    SELECT :organization_id, :connector_id, digest, version
    FROM unnest(CAST(:digests AS bytea[]), CAST(:versions AS text[])) AS seen (digest, version)
    ORDER BY digest
    ON CONFLICT (organization_id, connector_id, digest) DO UPDATE SET version = excluded.version
    """
)
_FIND_UNCHANGED = text(
    """
    SELECT seen.number
    FROM unnest(CAST(:digests AS bytea[]), CAST(:versions AS text[]))
        WITH ORDINALITY AS seen (digest, version, number)
    JOIN connector_objects known ON known.organization_id = :organization_id
     AND known.connector_id = :connector_id AND known.digest = seen.digest
     AND known.version = seen.version
    """
)
_DELETE = text(
    """
    DELETE FROM connector_objects WHERE (organization_id, connector_id, digest) IN (
        SELECT organization_id, connector_id, digest FROM connector_objects
        WHERE organization_id = :organization_id AND connector_id = :connector_id LIMIT :limit
    )
    """
)


def find_unchanged_indexes(connector_id: UUID, versions: Sequence[tuple[str, str]]) -> set[int]:
    """Return the indexes in `versions` of the objects that have not changed since the last crawl.

    `versions` contains the path and the current version of each object.
    """
    if not versions:
        return set()
    values = _build_parameters(connector_id, versions)
    return {number - 1 for number in db.session().scalars(_FIND_UNCHANGED, values)}


def save(connector_id: UUID, versions: Mapping[str, str | None]) -> None:
    """Save the version of each path; None means that the document must be read again."""
    if versions:
        db.session().execute(_SAVE, _build_parameters(connector_id, list(versions.items())))


def delete_batch(connector_id: UUID, limit: int) -> int:
    """Delete at most `limit` objects of a connector, and return how many were deleted."""
    values = {**_build_connector_parameters(connector_id), "limit": limit}
    return int(db.session().execute(_DELETE, values).rowcount)  # type: ignore[attr-defined]


def _build_parameters(
    connector_id: UUID, versions: Sequence[tuple[str, str | None]]
) -> dict[str, object]:
    return {
        **_build_connector_parameters(connector_id),
        "digests": [sha256(path.encode()).digest() for path, _ in versions],
        "versions": [version for _, version in versions],
    }


def _build_connector_parameters(connector_id: UUID) -> dict[str, object]:
    return {"organization_id": tenancy.current_organization_id(), "connector_id": connector_id}
