"""Helpers that fill and read sources in tests."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.engines.sources.model import (
    HostError,
    HostErrorKind,
    ObjectMissing,
    PathFilter,
    Source,
    SourceObject,
)


def list_documents(
    source: Source, after: str | None = None, path_filter: PathFilter | None = None
) -> list[SourceObject]:
    """Return all documents of a listing, without the positions between them."""
    listing = source.list_objects(after, path_filter)
    return [item for item in listing if isinstance(item, SourceObject)]


def list_paths(source: Source, after: str | None = None) -> list[str]:
    return [document.path for document in list_documents(source, after)]


def get_versions(source: Source) -> dict[str, str]:
    return {document.path: document.version for document in list_documents(source)}


def read(source: Source, path: str) -> bytes:
    with source.open(path) as chunks:
        parts = list(chunks)
    assert all(0 < len(part) <= 1024 * 1024 for part in parts)
    return b"".join(parts)


def browse(source: Source, path: str = "", limit: int = 100) -> list[tuple[str, bool]]:
    return [(entry.path, entry.is_folder) for entry in source.browse(path, limit)]


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by path, and create their folders."""
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def expect_missing(source: Source, path: str) -> None:
    """Check that there is no document with this path."""
    with pytest.raises(ObjectMissing), source.open(path):
        pass


@contextmanager
def expect_error(kind: HostErrorKind, *secrets: str) -> Iterator[pytest.ExceptionInfo[HostError]]:
    """Check that the code in the context fails with `kind`, and that no secret is shown."""
    with pytest.raises(HostError) as caught:
        yield caught
    error = caught.value
    assert error.kind is kind, error.message
    assert error.message.endswith(".")
    for secret in secrets:
        assert secret not in error.message
        assert secret not in repr(error.__cause__)
