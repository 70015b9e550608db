"""What the service acknowledged, and the events that must follow."""

import json
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Expected:
    """An event that must exist exactly once. `delivered`: and reach the webhook."""

    organization: str
    event: str
    subject: str
    delivered: bool


@dataclass
class Ledger:
    """Acknowledged writes, also kept as lines of JSON in `path` for a look afterwards.

    `documents` and `tag_sets` map ids to the last acknowledged state: "present" or "deleted", and
    the status with the tags. `violations` are answers that no client may ever get.
    """

    path: Path
    documents: dict[str, tuple[str, str]] = field(default_factory=dict)
    tag_sets: dict[str, tuple[str, str, list[Any]]] = field(default_factory=dict)
    exports: dict[str, str] = field(default_factory=dict)
    expected: list[Expected] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, answer: str) -> None:
        """Count an answer, or a request that got none."""
        with self._lock:
            self.answers[answer] += 1

    def violate(self, what: str) -> None:
        """Record what must never happen."""
        with self._lock:
            self.violations.append(what)
        self._append(violation=what)

    def expect(self, organization: str, event: str, subject: str, *, delivered: bool) -> None:
        """Record an event that must exist exactly once."""
        with self._lock:
            self.expected.append(Expected(organization, event, subject, delivered))
        self._append(organization=organization, event=event, subject=subject)

    def document(self, organization: str, identifier: str, state: str) -> None:
        """Record that a document is "present" or "deleted"."""
        with self._lock:
            self.documents[identifier] = (organization, state)
        self._append(organization=organization, document=identifier, state=state)

    def tag_set(self, organization: str, identifier: str, status: str, tags: list[Any]) -> None:
        """Record the status and the tags of a tag set."""
        with self._lock:
            self.tag_sets[identifier] = (organization, status, tags)
        self._append(organization=organization, tag_set=identifier, status=status, tags=tags)

    def export(self, organization: str, identifier: str) -> None:
        """Record an export that must be completed in the end."""
        with self._lock:
            self.exports[identifier] = organization
        self._append(organization=organization, export=identifier)

    def writes(self) -> int:
        """Return how many writes were acknowledged."""
        with self._lock:
            return len(self.documents) + len(self.tag_sets) + len(self.exports)

    def _append(self, **entry: Any) -> None:
        line = json.dumps(entry)
        with self._lock, self.path.open("a") as file:
            file.write(line + "\n")
