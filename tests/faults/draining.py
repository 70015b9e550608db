"""Clients of labelers and reviewers who work until no documents are left.

Like real clients, they repeat requests without a response, and reload records that somebody else
has changed.
"""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import requests

RETRY_SECONDS = 60.0
"""The time in seconds for which a client repeats a request without a response."""
_REJECTED = 0.25
"""The share of tag sets that are rejected in their first review."""


class BrokenGuaranteeError(AssertionError):
    """The service broke a guarantee."""


class Ledger:
    """The acknowledged writes, and the current claims.

    `saves` are (tag set, revision, value), and `decisions` are (tag set, action, reviewer).
    """

    def __init__(self) -> None:
        self.saves: list[tuple[str, int, str]] = []
        self.decisions: list[tuple[str, str, str]] = []
        self.problems: list[str] = []
        self.retries = 0
        self.claims: Counter[str] = Counter()
        self._claimed: dict[str, str] = {}
        self._lock = threading.Lock()

    def record(self, entries: list[Any], entry: Any) -> None:
        with self._lock:
            entries.append(entry)

    def count_retry(self) -> None:
        with self._lock:
            self.retries += 1

    @contextmanager
    def claiming(self, kind: str, identifier: str, email: str) -> Iterator[None]:
        """Record a claim during the block; fail if somebody else has claimed the same record."""
        key = f"{kind} {identifier}"
        with self._lock:
            claimer = self._claimed.setdefault(key, email)
            self.claims[kind] += 1
        if claimer != email:
            raise BrokenGuaranteeError(f"{key} was assigned to {email} while {claimer} claims it")
        try:
            yield
        finally:
            with self._lock:
                self._claimed.pop(key, None)


class Person:
    """A user with a client. `retried` is true if the last request was repeated."""

    def __init__(self, base: str, slug: str, email: str, ledger: Ledger, seed: str) -> None:
        self.email = email
        self.ledger = ledger
        self.random = random.Random(seed)
        self.retried = False
        self.id = ""
        self._base = f"{base}/api/v1"
        self._session = requests.Session()
        self._session.headers["X-Org-Slug"] = slug

    def login(self, password: str) -> None:
        body = {"email": self.email, "password": password}
        data = self.call("POST", "/auth/login", json=body).json()["data"]
        self.id = data["user"]["id"]
        self._session.headers["Authorization"] = f"Bearer {data['access_token']}"

    def call(self, method: str, path: str, **kwargs: Any) -> requests.Response:
        """Send a request, repeat it until there is a response, and return the response."""
        headers = kwargs.pop("headers", {})
        if method == "POST":
            headers["Idempotency-Key"] = str(uuid4())
        self.retried = False
        end = time.monotonic() + RETRY_SECONDS
        while True:
            try:
                response = self._session.request(
                    method, self._base + path, headers=headers, timeout=20, **kwargs
                )
            except requests.RequestException as failure:
                if time.monotonic() > end:
                    raise BrokenGuaranteeError(
                        f"{method} {path} has no response: {failure}"
                    ) from failure
                reason = 0
            else:
                reason = response.status_code
                if reason != 503:
                    break
            self.retried = True
            self.ledger.count_retry()
            time.sleep(self.random.uniform(0.02, 0.2))
        if reason >= 500:
            raise BrokenGuaranteeError(f"{method} {path}: {reason} {response.text}")
        return response

    def _read_data(self, response: requests.Response, *statuses: int) -> Any:
        if response.status_code not in statuses:
            raise BrokenGuaranteeError(f"{response.request.method} {response.url}: {response.text}")
        return response.json()["data"]

    def work(self, actions: list[Callable[[], bool]], stop: threading.Event) -> None:
        """Until `stop` is set, call the actions in order, up to the first that returns True."""
        try:
            while not stop.is_set():
                if not any(action() for action in actions):
                    stop.wait(self.random.uniform(0.5, 1.0))
        except Exception as failure:  # noqa: BLE001 - reported by the test
            self.ledger.record(self.ledger.problems, f"{self.email}: {failure!r}")
            stop.set()

    def label(self) -> bool:
        """Claim, label and submit the next document; return False if there is none."""
        document = self._read_data(self.call("POST", "/artifacts/next", json={}), 200)
        if document is None:
            return False
        with self.ledger.claiming("document", document["id"], self.email):
            draft = self._create_draft(document["id"])
            for number in range(self.random.choice((2, 3))):
                draft = self._save(draft, f"{draft['id']}-{number}-{uuid4().hex[:8]}")
        self._submit(draft)
        return True

    def _create_draft(self, document_id: str) -> dict[str, Any]:
        response = self.call("POST", f"/artifacts/{document_id}/tag-sets", json={"from": "empty"})
        if response.status_code == 409:
            # It was returned to this labeler, or created by a request whose response was lost.
            return self._read(response.json()["error"]["details"]["tag_set_id"])
        return dict(self._read_data(response, 201))

    def _read(self, tag_set_id: str) -> dict[str, Any]:
        return dict(self._read_data(self.call("GET", f"/tag-sets/{tag_set_id}"), 200))

    def _save(self, draft: dict[str, Any], value: str) -> dict[str, Any]:
        body = {"tags": [{"field": "number", "value": value}], "revision": draft["revision"]}
        saved = self.call("PUT", f"/tag-sets/{draft['id']}/tags", json=body)
        if saved.status_code == 409 and self.retried:
            current = self._read(draft["id"])
            if [tag["value"] for tag in current["tags"]] != [value]:
                raise BrokenGuaranteeError(f"{draft['id']} was overwritten: {saved.text}")
        else:
            current = self._read_data(saved, 200)
        if current["revision"] != draft["revision"] + 1:
            raise BrokenGuaranteeError(
                f"{draft['id']} went from {draft['revision']} to {current['revision']}"
            )
        self.ledger.record(self.ledger.saves, (draft["id"], current["revision"], value))
        return dict(current)

    def _submit(self, draft: dict[str, Any]) -> None:
        headers = {"If-Match": f'"{draft["revision"]}"'}
        sent = self.call("POST", f"/tag-sets/{draft['id']}/submit", headers=headers)
        if sent.status_code == 409 and self.retried:
            # The first request succeeded, and somebody may have reviewed the tag set since.
            sent = self.call("GET", f"/tag-sets/{draft['id']}")
            if sent.json()["data"]["revision"] == draft["revision"]:
                raise BrokenGuaranteeError(f"{draft['id']} could not be submitted")
        self._read_data(sent, 200)

    def review(self) -> bool:
        """Claim the next tag set and decide on it; return False if there is none."""
        item = self._read_data(self.call("POST", "/review-queue/next", json={}), 200)
        if item is None:
            return False
        tag_set = item["tag_set"]
        with self.ledger.claiming("review", item["id"], self.email):
            if tag_set["labeler"]["id"] == self.id:
                raise BrokenGuaranteeError(f"{self.email} was assigned their own {item['id']}")
        rejects = tag_set["rejections"] == 0 and self.random.random() < _REJECTED
        self._decide(tag_set, "reject" if rejects else "accept")
        return True

    def _decide(self, tag_set: dict[str, Any], action: str) -> None:
        send_to = self.random.choice(("labeler", "pool"))
        body = {"reason": "Look again", "send_to": send_to} if action == "reject" else {}
        body["revision"] = tag_set["revision"]
        path = f"/tag-sets/{tag_set['id']}"
        response = self.call("POST", f"{path}/{action}", json=body)
        if response.status_code == 409 and self.retried:
            response = self.call("GET", path)
            if response.json()["data"]["revision"] == tag_set["revision"]:
                raise BrokenGuaranteeError(f"{tag_set['id']} could not be decided")
        self._read_data(response, 200)
        self.ledger.record(self.ledger.decisions, (tag_set["id"], action, self.id))
