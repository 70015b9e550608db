"""Record the writes that the service acknowledged, and the events that must follow."""

import json
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class ExpectedEvent:
    """An event that must be emitted exactly once.

    `organization` is a slug, and `subject` the id of the record. If `delivered` is true, the event
    must also be delivered to the webhook, as a single delivery.
    """

    organization: str
    event: str
    subject: str
    delivered: bool


@dataclass
class Ledger:
    """Acknowledged writes, which are also appended to the JSON Lines file `path` for debugging.

    `documents` maps ids to (slug, "present" or "deleted"), `tag_sets` maps ids to (slug, status,
    tags), and `exports` maps ids to slugs. The values are those of the last acknowledged write.
    `violations` describes results that must never happen. `responses` counts statuses and
    exceptions.
    """

    path: Path
    documents: dict[str, tuple[str, str]] = field(default_factory=dict)
    tag_sets: dict[str, tuple[str, str, list[Any]]] = field(default_factory=dict)
    exports: dict[str, str] = field(default_factory=dict)
    expected_events: list[ExpectedEvent] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    responses: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count_response(self, result: str) -> None:
        """Count a request by its result: the status, or the name of the exception."""
        with self._lock:
            self.responses[result] += 1

    def record_violation(self, violation: str) -> None:
        """Record a result that must never happen."""
        with self._lock:
            self.violations.append(violation)
        self._append(violation=violation)

    def expect_event(self, organization: str, event: str, subject: str, *, delivered: bool) -> None:
        """Record an event that must be emitted exactly once; see `ExpectedEvent`."""
        with self._lock:
            self.expected_events.append(ExpectedEvent(organization, event, subject, delivered))
        self._append(organization=organization, event=event, subject=subject)

    def record_document(self, organization: str, identifier: str, state: str) -> None:
        """Record that a document is "present" or "deleted"."""
        with self._lock:
            self.documents[identifier] = (organization, state)
        self._append(organization=organization, document=identifier, state=state)

    def record_tag_set(
        self, organization: str, identifier: str, status: str, tags: list[Any]
    ) -> None:
        """Record the status and the tags of a tag set."""
        with self._lock:
            self.tag_sets[identifier] = (organization, status, tags)
        self._append(organization=organization, tag_set=identifier, status=status, tags=tags)

    def record_export(self, organization: str, identifier: str) -> None:
        """Record an export that must be completed in the end."""
        with self._lock:
            self.exports[identifier] = organization
        self._append(organization=organization, export=identifier)

    def count_records(self) -> int:
        """Return the number of records with an acknowledged write."""
        with self._lock:
            return len(self.documents) + len(self.tag_sets) + len(self.exports)

    def _append(self, **entry: Any) -> None:
        line = json.dumps(entry)
        with self._lock, self.path.open("a") as file:
            file.write(line + "\n")
