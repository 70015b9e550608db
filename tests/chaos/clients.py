"""Clients that write without a pause, and repeat what was not acknowledged."""

import random
import threading
import time
from typing import Any
from uuid import uuid4

import requests

from tests.chaos.ledger import Ledger
from tests.faults.conftest import Service

_READY_SECONDS = 60.0
_PAUSE_SECONDS = 0.2
_OUTCOMES = {
    "submit": ("submitted", "tag_set.submitted"),
    "accept": ("accepted", "tag_set.accepted"),
    "reject": ("draft", "tag_set.rejected"),  # its labeler corrects it
}


class Client:
    """An owner of an organization, who repeats a request until the service decides on it."""

    def __init__(self, service: Service, slug: str, ledger: Ledger, stop: threading.Event) -> None:
        self.service = service
        self.slug = slug
        self.ledger = ledger
        self.stop = stop
        self._token = ""

    def call(self, method: str, path: str, **kwargs: Any) -> tuple[requests.Response, bool]:
        """Return the final answer, and whether an earlier try may have been carried out.

        No answer, 502 and 503 are repeated, with the same idempotency key. A status of 500 is a
        violation.
        """
        headers = {"X-Org-Slug": self.slug, **kwargs.pop("headers", {})}
        headers.setdefault("Idempotency-Key", str(uuid4()))
        uncertain = False
        while True:
            try:
                url = f"{self.service.base}/api/v1{path}"
                headers["Authorization"] = f"Bearer {self._token}"
                answer = requests.request(method, url, headers=headers, timeout=30, **kwargs)
            except requests.RequestException as error:
                self.ledger.count(type(error).__name__)
                uncertain = True
                time.sleep(_PAUSE_SECONDS)
                continue
            self.ledger.count(str(answer.status_code))
            if answer.status_code == 401:
                self._log_in()
            elif answer.status_code in (429, 502, 503):
                uncertain = uncertain or answer.status_code != 429
                time.sleep(_PAUSE_SECONDS)
            else:
                if answer.status_code >= 500:
                    self.ledger.violate(f"{method} {path}: {answer.status_code} {answer.text}")
                return answer, uncertain

    def get(self, path: str) -> Any:
        """Return the data of an answer; None for one that is not found."""
        answer, _ = self.call("GET", path)
        return answer.json()["data"] if answer.ok else None

    def _log_in(self) -> None:
        body = {"email": "admin@demo.example", "password": self.service.password}
        try:
            answer = requests.post(f"{self.service.base}/api/v1/auth/login", json=body, timeout=30)
            self._token = answer.json()["data"]["access_token"]
        except (requests.RequestException, ValueError, KeyError):
            time.sleep(_PAUSE_SECONDS)


class Writer(Client):
    """Uploads, labels, reviews, deletes and exports, and enters every acknowledged write."""

    def __init__(self, *args: Any, schema_id: str, seed: str) -> None:
        super().__init__(*args)
        self.schema_id = schema_id
        self.random = random.Random(seed)
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self) -> None:
        """Write until told to stop."""
        while not self.stop.is_set():
            document = self.upload()
            choice = self.random.random()
            if document is None or choice < 0.2:
                continue
            if choice < 0.21:
                self.export()
            elif choice < 0.4:
                self.delete(document)
            elif self.is_ready(document):
                self.label(document)

    def upload(self) -> str | None:
        """Upload a text file; return its id."""
        content = f"Invoice {uuid4()}\nTotal: {self.random.randint(1, 999)} EUR\n"
        answer, _ = self.call(
            "POST",
            "/artifacts",
            files={"file": ("invoice.txt", content, "text/plain")},
            data={"schema_id": self.schema_id},
        )
        if answer.status_code != 201:
            self.ledger.violate(f"upload: {answer.status_code} {answer.text}")
            return None
        identifier: str = answer.json()["data"]["id"]
        self.ledger.document(self.slug, identifier, "present")
        self.ledger.expect(self.slug, "artifact.created", identifier, delivered=False)
        return identifier

    def is_ready(self, document: str) -> bool:
        """Wait for a document to be read; return whether it was in time."""
        end = time.monotonic() + _READY_SECONDS
        while time.monotonic() < end and not self.stop.is_set():
            found = self.get(f"/artifacts/{document}")
            if found is None or found["status"] == "failed":
                self.ledger.violate(f"document {document}: {found}")
                return False
            if found["status"] == "ready":
                return True
            time.sleep(_PAUSE_SECONDS)
        return False

    def delete(self, document: str) -> None:
        """Delete a document."""
        answer, uncertain = self.call("DELETE", f"/artifacts/{document}")
        if answer.status_code == 204 or (uncertain and answer.status_code == 404):
            self.ledger.document(self.slug, document, "deleted")
            self.ledger.expect(self.slug, "artifact.deleted", document, delivered=False)
        else:
            self.ledger.violate(f"delete {document}: {answer.status_code} {answer.text}")

    def label(self, document: str) -> None:
        """Create a tag set, save it twice, submit it, and accept or reject it."""
        answer, _ = self.call("POST", f"/artifacts/{document}/tag-sets", json={"from": "empty"})
        if answer.status_code != 201:
            self.ledger.violate(f"tag set of {document}: {answer.status_code} {answer.text}")
            return
        identifier: str = answer.json()["data"]["id"]
        tags: list[Any] = []
        for revision in (1, 2):
            tags = [{"field": "number", "value": f"{self.random.randint(1, 10**9)}"}]
            if not self.save(identifier, tags, revision):
                return
        if self.decide(identifier, "submit", tags):
            self.decide(identifier, self.random.choices(["accept", "reject"], [4, 1])[0], tags)

    def save(self, identifier: str, tags: list[Any], revision: int) -> bool:
        """Save the tags of a draft; return whether that worked."""
        answer, uncertain = self.call(
            "PUT",
            f"/tag-sets/{identifier}/tags",
            json={"tags": tags},
            headers={"If-Match": f'"{revision}"'},
        )
        applied = answer.ok or (uncertain and answer.status_code == 409)
        if applied:
            self.ledger.tag_set(self.slug, identifier, "draft", tags)
        else:
            self.ledger.violate(f"save {identifier}: {answer.status_code} {answer.text}")
        return applied

    def decide(self, identifier: str, action: str, tags: list[Any]) -> bool:
        """Submit, accept or reject; return whether that worked."""
        body = {"reason": "Wrong number."} if action == "reject" else {}
        answer, uncertain = self.call("POST", f"/tag-sets/{identifier}/{action}", json=body)
        status, event = _OUTCOMES[action]
        applied = answer.ok
        if uncertain and answer.status_code == 409:
            found = self.get(f"/tag-sets/{identifier}")
            applied = found is not None and found["status"] == status
        if applied:
            self.ledger.tag_set(self.slug, identifier, status, tags)
            self.ledger.expect(self.slug, event, identifier, delivered=action == "accept")
        else:
            self.ledger.violate(f"{action} {identifier}: {answer.status_code} {answer.text}")
        return applied

    def export(self) -> None:
        """Start an export of what was accepted."""
        answer, _ = self.call("POST", "/exports", json={"format": "jsonl"})
        if answer.status_code != 202:
            self.ledger.violate(f"export: {answer.status_code} {answer.text}")
            return
        identifier: str = answer.json()["data"]["id"]
        self.ledger.export(self.slug, identifier)
        self.ledger.expect(self.slug, "export.completed", identifier, delivered=True)
