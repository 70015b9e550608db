"""Labelers and reviewers who work until nothing is left, as clients in the real world do: they send
again what was not answered, and read again what somebody else has changed."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import requests

PATIENCE = 60.0
"""For how long a client goes on with a request that is not answered, in seconds."""
_REJECTED = 0.15
"""The share of label sets that are rejected when they come to review for the first time."""


class MisconductError(AssertionError):
    """The service did what it must never do."""


class Ledger:
    """What the service acknowledged, and who has what in hands at this moment."""

    def __init__(self) -> None:
        self.saves: list[tuple[str, int, str]] = []
        self.verdicts: list[tuple[str, str, str]] = []
        self.problems: list[str] = []
        self.retries = 0
        self.given: Counter[str] = Counter()
        self._held: dict[str, str] = {}
        self._lock = threading.Lock()

    def note(self, what: list[Any], entry: Any) -> None:
        with self._lock:
            what.append(entry)

    def retried(self) -> None:
        with self._lock:
            self.retries += 1

    @contextmanager
    def holding(self, what: str, identifier: str, who: str) -> Iterator[None]:
        """Fails when somebody else has been given the same."""
        key = f"{what} {identifier}"
        with self._lock:
            other = self._held.setdefault(key, who)
            self.given[what] += 1
        if other != who:
            raise MisconductError(f"{key} was given to {who} while {other} has it")
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(key, None)


class Person:
    """Somebody with a client of their own. `retried` tells whether the last call was sent again."""

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
        """The answer, however often it has to be asked for."""
        headers = kwargs.pop("headers", {})
        if method == "POST":
            headers["Idempotency-Key"] = str(uuid4())
        self.retried = False
        end = time.monotonic() + PATIENCE
        while True:
            try:
                answer = self._session.request(
                    method, self._base + path, headers=headers, timeout=20, **kwargs
                )
            except requests.RequestException as failure:
                if time.monotonic() > end:
                    raise MisconductError(
                        f"{method} {path} is not answered: {failure}"
                    ) from failure
                reason = 0
            else:
                reason = answer.status_code
                if reason != 503:
                    break
            self.retried = True
            self.ledger.retried()
            time.sleep(self.random.uniform(0.02, 0.2))
        if reason >= 500:
            raise MisconductError(f"{method} {path}: {reason} {answer.text}")
        return answer

    def _data(self, answer: requests.Response, *statuses: int) -> Any:
        if answer.status_code not in statuses:
            raise MisconductError(f"{answer.request.method} {answer.url}: {answer.text}")
        return answer.json()["data"]

    def work(self, todo: list[Callable[[], bool]], stop: threading.Event) -> None:
        """Do the first of `todo` that there is something to do of, over and over."""
        try:
            while not stop.is_set():
                if not any(one() for one in todo):
                    stop.wait(self.random.uniform(0.2, 0.6))
        except Exception as failure:  # noqa: BLE001 - told by the test, which ends all
            self.ledger.note(self.ledger.problems, f"{self.email}: {failure!r}")
            stop.set()

    def label(self) -> bool:
        """Take the next document, label and submit it; False when there is none."""
        document = self._data(self.call("POST", "/artifacts/next", json={}), 200)
        if document is None:
            return False
        with self.ledger.holding("document", document["id"], self.email):
            draft = self._draft(document["id"])
            for number in range(self.random.choice((2, 3))):
                draft = self._save(draft, f"{draft['id']}-{number}-{uuid4().hex[:8]}")
        self._submit(draft)
        return True

    def _draft(self, document_id: str) -> dict[str, Any]:
        made = self.call("POST", f"/artifacts/{document_id}/tag-sets", json={"from": "empty"})
        if made.status_code == 409:
            # Sent back to them, or begun when the answer was lost.
            return self._read(made.json()["error"]["details"]["tag_set_id"])
        return dict(self._data(made, 201))

    def _read(self, tag_set_id: str) -> dict[str, Any]:
        return dict(self._data(self.call("GET", f"/tag-sets/{tag_set_id}"), 200))

    def _save(self, draft: dict[str, Any], value: str) -> dict[str, Any]:
        body = {"tags": [{"field": "number", "value": value}], "revision": draft["revision"]}
        saved = self.call("PUT", f"/tag-sets/{draft['id']}/tags", json=body)
        if saved.status_code == 409 and self.retried:
            now = self._read(draft["id"])
            if [tag["value"] for tag in now["tags"]] != [value]:
                raise MisconductError(f"{draft['id']} was saved over: {saved.text}")
        else:
            now = self._data(saved, 200)
        if now["revision"] != draft["revision"] + 1:
            raise MisconductError(
                f"{draft['id']} went from {draft['revision']} to {now['revision']}"
            )
        self.ledger.note(self.ledger.saves, (draft["id"], now["revision"], value))
        return dict(now)

    def _submit(self, draft: dict[str, Any]) -> None:
        headers = {"If-Match": f'"{draft["revision"]}"'}
        sent = self.call("POST", f"/tag-sets/{draft['id']}/submit", headers=headers)
        if sent.status_code == 409 and self.retried:
            # The first one came through: somebody may have decided by now.
            sent = self.call("GET", f"/tag-sets/{draft['id']}")
            if sent.json()["data"]["revision"] == draft["revision"]:
                raise MisconductError(f"{draft['id']} was neither submitted nor may be")
        self._data(sent, 200)

    def review(self) -> bool:
        """Take the next label set and decide on it; False when there is none."""
        item = self._data(self.call("POST", "/review-queue/next", json={}), 200)
        if item is None:
            return False
        tag_set = item["tag_set"]
        with self.ledger.holding("review", item["id"], self.email):
            if tag_set["labeler"]["id"] == self.id:
                raise MisconductError(f"{self.email} was given their own {item['id']}")
        rejects = tag_set["rejections"] == 0 and self.random.random() < _REJECTED
        self._decide(tag_set, "reject" if rejects else "accept")
        return True

    def _decide(self, tag_set: dict[str, Any], verdict: str) -> None:
        send_to = self.random.choice(("labeler", "pool"))
        body = {"reason": "Look again", "send_to": send_to} if verdict == "reject" else {}
        body["revision"] = tag_set["revision"]
        path = f"/tag-sets/{tag_set['id']}"
        answer = self.call("POST", f"{path}/{verdict}", json=body)
        if answer.status_code == 409 and self.retried:
            answer = self.call("GET", path)
            if answer.json()["data"]["revision"] == tag_set["revision"]:
                raise MisconductError(f"{tag_set['id']} was neither decided nor may be")
        self._data(answer, 200)
        self.ledger.note(self.ledger.verdicts, (tag_set["id"], verdict, self.id))
