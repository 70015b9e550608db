"""In-memory cache for document text, which is needed each time a draft is saved."""

import sys
from datetime import datetime
from threading import Lock
from uuid import UUID

from cachetools import LRUCache, cached

from app.documents.artifacts.queries import texts
from app.engines.fields import SourceText
from app.kit import tenancy

CACHE_BYTES = 16 * 2**20
"""The maximum size in bytes of the cache in one process. A larger text is not cached."""


def build_source_text(artifact_id: UUID, updated_at: datetime) -> SourceText:
    """Build the source text of a locked document. The text is loaded on first use.

    `updated_at` is the timestamp of the locked document. Every write of the text changes this
    timestamp. Saving a draft does not change it, so the cached text stays valid.
    """
    organization_id = tenancy.current_organization_id()
    return SourceText(lambda: _load_text(organization_id, artifact_id, updated_at))


@cached(LRUCache(CACHE_BYTES, getsizeof=sys.getsizeof), lock=Lock())
def _load_text(
    organization_id: UUID,  # noqa: ARG001 - part of the cache key
    artifact_id: UUID,
    updated_at: datetime,  # noqa: ARG001 - part of the cache key
) -> str:
    return texts.read_text(artifact_id)
