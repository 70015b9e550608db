"""Follow the audit log of an organization while entries are written."""

from datetime import datetime, timedelta
from uuid import UUID

from app.identity.audit import queries, reading
from app.identity.audit.models import NO_ORGANIZATION
from app.identity.audit.reading import LogEntry
from app.kit import errors, tenancy

MAX_COMMIT_DELAY = timedelta(minutes=5)
"""The longest time for which an entry can stay uncommitted and still be returned."""
MAX_ENTRIES = 10_000
"""The maximum number of entries that are returned at once."""
_TENANCY_REASON = "the operator reads any organization's log"


class AuditFollower:
    """Reads an audit log while it grows, and returns each entry once.

    Entries that are committed more than MAX_COMMIT_DELAY after their timestamp are not returned. If
    `organization_slug` is None, reads the entries about records that belong to no organization.
    """

    def __init__(self, organization_slug: str | None) -> None:
        self._slug = organization_slug
        self._chain_id = NO_ORGANIZATION
        self._known_times: dict[UUID, datetime] = {}

    def start(self, limit: int) -> list[LogEntry]:
        """Return the latest entries, at most `limit`, oldest first.

        Raises 404 `not_found` for an unknown slug.
        """
        with tenancy.across_organizations(reason=_TENANCY_REASON):
            if self._slug is not None:
                chain = errors.require_found(queries.find_chain_by_slug(self._slug))
                self._chain_id = chain[0]
            # Read the known ids first: an entry that is committed between the two statements must
            # count as new.
            self._known_times = reading.list_recent_times(self._chain_id, MAX_COMMIT_DELAY)
            return self._record_known(reading.list_latest_entries(self._chain_id, limit))

    def read_new(self) -> list[LogEntry]:
        """Return at most MAX_ENTRIES entries that no earlier call returned, oldest first.

        Entries that were committed before `start` ran are not returned.
        """
        with tenancy.across_organizations(reason=_TENANCY_REASON):
            known_ids = self._known_times.keys()
            return self._record_known(
                reading.list_unknown_entries(
                    self._chain_id, MAX_COMMIT_DELAY, known_ids, limit=MAX_ENTRIES
                )
            )

    def _record_known(self, entries: list[LogEntry]) -> list[LogEntry]:
        """Record that the entries are known, and return them without the query strings of URLs."""
        self._known_times |= {entry.id: entry.at for entry in entries}
        if entries:
            start = entries[-1].at - 2 * MAX_COMMIT_DELAY
            self._known_times = {
                entry_id: at for entry_id, at in self._known_times.items() if at >= start
            }
        return [e._replace(changes=reading.hide_url_queries(e.changes)) for e in entries]
