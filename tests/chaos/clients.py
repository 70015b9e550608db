"""Clients that write without a pause, and retry requests that were not acknowledged."""

import random
import threading
import time
from collections.abc import Sequence
from itertools import cycle
from typing import Any
from uuid import uuid4

import requests

from tests.chaos.ledger import Ledger
from tests.faults.conftest import Service

_READY_SECONDS = 60.0
_PAUSE_SECONDS = 0.2
# The status and the event that follow each action.
_OUTCOMES = {
    "submit": ("submitted", "tag_set.submitted"),
    "accept": ("accepted", "tag_set.accepted"),
    "reject": ("draft", "tag_set.rejected"),  # the labeler must correct the tag set
}


class Client:
    """A client of an organization's owner that retries requests until the service responds.

    It sends each attempt to the next of the machines. `stop` is set when the client must stop.
    """

    def __init__(
        self, machines: Sequence[Service], slug: str, ledger: Ledger, stop: threading.Event
    ) -> None:
        self._next_machine = cycle(machines)
        self.slug = slug
        self.ledger = ledger
        self.stop = stop
        self._token = ""

    def call(self, method: str, path: str, **kwargs: Any) -> tuple[requests.Response, bool]:
        """Send a request; return the response, and whether an earlier attempt may have worked.

        Retries with the same idempotency key if there is no response, or if it is 429, 502 or 503.
        Signs in and retries if it is 401. Records any other 5xx response as a violation.
        """
        headers = {"X-Org-Slug": self.slug, **kwargs.pop("headers", {})}
        headers.setdefault("Idempotency-Key", str(uuid4()))
        may_have_worked = False
        while True:
            try:
                url = f"{next(self._next_machine).base}/api/v1{path}"
                headers["Authorization"] = f"Bearer {self._token}"
                response = requests.request(method, url, headers=headers, timeout=30, **kwargs)
            except requests.RequestException as error:
                self.ledger.count_response(type(error).__name__)
                may_have_worked = True
                time.sleep(_PAUSE_SECONDS)
                continue
            self.ledger.count_response(str(response.status_code))
            if response.status_code == 401:
                self._log_in()
            elif response.status_code in (429, 502, 503):
                may_have_worked = may_have_worked or response.status_code != 429
                time.sleep(_PAUSE_SECONDS)
            else:
                if response.status_code >= 500:
                    self.record_failure(f"{method} {path}", response)
                return response, may_have_worked

    def record_failure(self, action: str, response: requests.Response) -> None:
        """Record a violation: an action failed with a response that it must never have."""
        self.ledger.record_violation(f"{action}: {response.status_code} {response.text}")

    def get(self, path: str) -> Any:
        """Send a GET request; return the data of the response, or None if it is an error."""
        response, _ = self.call("GET", path)
        return response.json()["data"] if response.ok else None

    def _log_in(self) -> None:
        machine = next(self._next_machine)
        body = {"email": "admin@demo.example", "password": machine.password}
        try:
            response = requests.post(f"{machine.base}/api/v1/auth/login", json=body, timeout=30)
            self._token = response.json()["data"]["access_token"]
        except (requests.RequestException, ValueError, KeyError):
            time.sleep(_PAUSE_SECONDS)


class Writer(Client):
    """Uploads, labels, reviews, deletes and exports; records each acknowledged write in the ledger.

    It runs in `thread`.
    """

    def __init__(self, *args: Any, schema_id: str, seed: str) -> None:
        super().__init__(*args)
        self.schema_id = schema_id
        self.random = random.Random(seed)
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self) -> None:
        """Write until `stop` is set."""
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
        """Upload a text file; return the document's id, or None if this failed."""
        content = f"Invoice {uuid4()}\nTotal: {self.random.randint(1, 999)} EUR\n"
        response, _ = self.call(
            "POST",
            "/artifacts",
            files={"file": ("invoice.txt", content, "text/plain")},
            data={"schema_id": self.schema_id},
        )
        if response.status_code != 201:
            self.record_failure("upload", response)
            return None
        identifier: str = response.json()["data"]["id"]
        self.ledger.record_document(self.slug, identifier, "present")
        self.ledger.expect_event(self.slug, "artifact.created", identifier, delivered=False)
        return identifier

    def is_ready(self, document: str) -> bool:
        """Wait until a document is ready; return False after a timeout or if the client must stop.

        If the document failed or does not exist, records a violation and returns False.
        """
        deadline = time.monotonic() + _READY_SECONDS
        while time.monotonic() < deadline and not self.stop.is_set():
            artifact = self.get(f"/artifacts/{document}")
            if artifact is None or artifact["status"] == "failed":
                self.ledger.record_violation(f"document {document}: {artifact}")
                return False
            if artifact["status"] == "ready":
                return True
            time.sleep(_PAUSE_SECONDS)
        return False

    def delete(self, document: str) -> None:
        """Delete a document."""
        response, may_have_worked = self.call("DELETE", f"/artifacts/{document}")
        if response.status_code == 204 or (may_have_worked and response.status_code == 404):
            self.ledger.record_document(self.slug, document, "deleted")
            self.ledger.expect_event(self.slug, "artifact.deleted", document, delivered=False)
        else:
            self.record_failure(f"delete {document}", response)

    def label(self, document: str) -> None:
        """Create a tag set, save it twice, submit it, and accept or reject it."""
        response, _ = self.call("POST", f"/artifacts/{document}/tag-sets", json={"from": "empty"})
        if response.status_code != 201:
            self.record_failure(f"tag set of {document}", response)
            return
        identifier: str = response.json()["data"]["id"]
        tags: list[Any] = []
        for revision in (1, 2):
            tags = [{"field": "number", "value": f"{self.random.randint(1, 10**9)}"}]
            if not self.save(identifier, tags, revision):
                return
        if self.decide(identifier, "submit", tags):
            self.decide(identifier, self.random.choices(["accept", "reject"], [4, 1])[0], tags)

    def save(self, identifier: str, tags: list[Any], revision: int) -> bool:
        """Save the tags of a draft with this revision; return whether they are saved."""
        response, may_have_worked = self.call(
            "PUT",
            f"/tag-sets/{identifier}/tags",
            json={"tags": tags},
            headers={"If-Match": f'"{revision}"'},
        )
        applied = response.ok or (may_have_worked and response.status_code == 409)
        if applied:
            self.ledger.record_tag_set(self.slug, identifier, "draft", tags)
        else:
            self.record_failure(f"save {identifier}", response)
        return applied

    def decide(self, identifier: str, action: str, tags: list[Any]) -> bool:
        """Submit, accept or reject a tag set; return whether the action is done."""
        body = {"reason": "Wrong number."} if action == "reject" else {}
        response, may_have_worked = self.call("POST", f"/tag-sets/{identifier}/{action}", json=body)
        status, event = _OUTCOMES[action]
        applied = response.ok
        if may_have_worked and response.status_code == 409:
            tag_set = self.get(f"/tag-sets/{identifier}")
            applied = tag_set is not None and tag_set["status"] == status
        if applied:
            self.ledger.record_tag_set(self.slug, identifier, status, tags)
            self.ledger.expect_event(self.slug, event, identifier, delivered=action == "accept")
        else:
            self.record_failure(f"{action} {identifier}", response)
        return applied

    def export(self) -> None:
        """Start an export of the accepted tag sets."""
        response, _ = self.call("POST", "/exports", json={"format": "jsonl"})
        if response.status_code != 202:
            self.record_failure("export", response)
            return
        identifier: str = response.json()["data"]["id"]
        self.ledger.record_export(self.slug, identifier)
        self.ledger.expect_event(self.slug, "export.completed", identifier, delivered=True)
