"""Probes of sources: test or browse a source during a request.

A host may send a slow response that never ends. A separate thread therefore connects to the host,
and the request waits for this thread for a limited time. The number of these threads is limited per
process and per organization. At most half of the request threads wait for such hosts.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing
from datetime import datetime
from time import thread_time
from typing import NamedTuple
from uuid import UUID

from app.engines.sources.model import HostError, HostErrorKind, ObjectMissing, Source, SourceEntry
from app.intake.connectors.models import Connector
from app.intake.connectors.queries import records
from app.intake.connectors.service.globs import PathPatterns
from app.intake.connectors.service.opening import (
    SourceTarget,
    build_expiring_network,
    open_source,
    read_target,
)
from app.kit import container, db, errors, outbound_slots
from app.kit.logging import get_logger

log = get_logger(__name__)

WAIT_SECONDS = 10.0
PROBE_SECONDS = 15.0
"""The time in seconds after which the connections of a probe are shut down."""
MAX_PROBES = 8
"""The maximum number of probes in a process. An organization can have one probe at a time."""
TEST_ENTRY_COUNT = 5
MATCH_SECONDS = 2.0
"""The maximum processor time in seconds to compare the entries with the connector's patterns. Some
combinations of names and patterns make each comparison slow."""
MAX_SIZE_BYTES = 2**63 - 1
"""The maximum size of a document that is shown. A host may report any number."""
_RETRY_AFTER_SECONDS = 5
_lock = threading.Lock()
_probing_organization_ids: set[UUID] = set()
"""The ids of the organizations that have a running probe."""

Entries = list[SourceEntry]


class BrowsedEntry(NamedTuple):
    """A folder or document in a source. `included` is true if a crawl would read it."""

    path: str
    name: str
    is_folder: bool
    size_bytes: int | None
    modified_at: datetime | None
    included: bool


class BrowsedFolder(NamedTuple):
    """The first entries of a folder in a source."""

    path: str
    entries: list[BrowsedEntry]


class ProbeResult(NamedTuple):
    """The result of a connector test: the first entries of the source, or the error."""

    ok: bool
    error: HostError | None
    entries: list[BrowsedEntry]


def test(connector_id: UUID) -> ProbeResult:
    """Test a connector: connect to its source, and list the source's first entries.

    Raises 404 if the connector does not exist, and 503 while too many sources are being tested or
    browsed.
    """
    connector = errors.require_found(records.get(connector_id))
    try:
        entries = _list_entries(connector, "", TEST_ENTRY_COUNT)
    except HostError as problem:
        return ProbeResult(ok=False, error=problem, entries=[])
    return ProbeResult(ok=True, error=None, entries=entries)


def browse(connector_id: UUID, *, path: str, limit: int) -> BrowsedFolder:
    """Browse a folder in a source, and return its first entries, at most `limit`.

    Raises 404 if the connector does not exist, and 503 while too many sources are being tested or
    browsed. If the source cannot be read, raises 409 `conflict` with the kind of the error as
    `details.kind`. If the folder does not exist, this error is for the field `path`.
    """
    connector = errors.require_found(records.get(connector_id))
    try:
        return BrowsedFolder(path, _list_entries(connector, path, limit))
    except HostError as problem:
        is_path_missing = bool(path) and problem.kind == HostErrorKind.NOT_FOUND
        raise errors.ApiError(
            "conflict",
            problem.message,
            field="path" if is_path_missing else None,
            details={"kind": problem.kind.value},
        ) from None


def _list_entries(connector: Connector, path: str, limit: int) -> list[BrowsedEntry]:
    patterns = PathPatterns(list(connector.include_patterns), list(connector.exclude_patterns))
    target, organization_id = read_target(connector), connector.organization_id
    # The host may be slow, so no transaction stays open during the probe.
    db.checkpoint()
    entries = _run_probe(organization_id, target, lambda source: source.browse(path, limit))
    return list(_build_entries(entries, patterns))


def _run_probe(
    organization_id: UUID, target: SourceTarget, read: Callable[[Source], Entries]
) -> Entries:
    """Open a source in a separate thread, and wait up to WAIT_SECONDS for the result of `read`."""
    with outbound_slots.hold_slot():
        future = _start_probe(organization_id, target, read)
        try:
            return future.result(WAIT_SECONDS)
        except TimeoutError:
            message = f"The host did not respond within {WAIT_SECONDS:.0f} seconds."
            raise HostError(HostErrorKind.UNREACHABLE, message) from None


def _start_probe(
    organization_id: UUID, target: SourceTarget, read: Callable[[Source], Entries]
) -> Future[Entries]:
    """Start the thread of a probe, and return the future of the result."""
    _reserve_probe(organization_id)
    future: Future[Entries] = Future()

    def run() -> None:
        try:
            future.set_result(_open_and_read(target, read))
        except HostError as problem:
            future.set_exception(problem)
        finally:
            _release_probe(organization_id)

    try:
        threading.Thread(target=run, name="connector-probe", daemon=True).start()
    except RuntimeError:  # The process has too many threads.
        _release_probe(organization_id)
        raise _build_busy_error("The service cannot open another connection.") from None
    return future


def _open_and_read(target: SourceTarget, read: Callable[[Source], Entries]) -> Entries:
    try:
        with (
            build_expiring_network(PROBE_SECONDS) as network,
            closing(open_source(target, network)) as source,
        ):
            return read(source)
    except HostError:
        raise
    except ObjectMissing:
        raise HostError(HostErrorKind.NOT_FOUND, "The folder does not exist.") from None
    except Exception:
        log.exception("connector.probe_failed", type=target.type)
        message = "The host's response does not conform to the protocol."
        raise HostError(HostErrorKind.PROTOCOL, message) from None


def _reserve_probe(organization_id: UUID) -> None:
    with _lock:
        if organization_id in _probing_organization_ids:
            raise _build_busy_error("A connector is already being tested or browsed.")
        if len(_probing_organization_ids) >= MAX_PROBES:
            raise _build_busy_error("Too many connectors are being tested or browsed.")
        _probing_organization_ids.add(organization_id)


def _release_probe(organization_id: UUID) -> None:
    with _lock:
        _probing_organization_ids.discard(organization_id)


def _build_busy_error(reason: str) -> errors.ApiError:
    return errors.busy(f"{reason} Try again shortly.", retry_after=_RETRY_AFTER_SECONDS)


def _build_entries(entries: Entries, patterns: PathPatterns) -> Iterator[BrowsedEntry]:
    ends_at = thread_time() + MATCH_SECONDS
    for entry in entries:
        yield _build_entry(entry, patterns)
        if thread_time() > ends_at:
            message = "Matching the paths in this folder takes too long. Simplify the patterns."
            raise HostError(HostErrorKind.NOT_ALLOWED, message)


def _build_entry(entry: SourceEntry, patterns: PathPatterns) -> BrowsedEntry:
    size = entry.size if entry.size is not None and 0 <= entry.size <= MAX_SIZE_BYTES else None
    is_size_allowed = (entry.size or 0) <= container.settings().max_upload_bytes
    return BrowsedEntry(
        path=entry.path,
        name=entry.path.rpartition("/")[2],
        is_folder=entry.is_folder,
        size_bytes=size,
        modified_at=entry.modified_at,
        included=not entry.is_folder and is_size_allowed and patterns.is_included(entry.path),
    )
