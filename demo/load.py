"""Create the demo organization and its users, and then its content with requests from these users.

The organization has a temporary slug until it is complete. The next start can therefore recognize
an interrupted load, delete its data, and load again.
"""

import io
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

from flask import Flask
from sqlalchemy import delete, update

from app.factory import create_app
from app.identity.organizations.models import Membership, Organization
from app.identity.users.models import User
from app.kit import db, secrets, tenancy
from app.kit.jobs import worker
from app.kit.jobs.queues import QUEUES
from demo.documents import DOCUMENTS, DemoDocument
from demo.people import USERS, build_address
from demo.schemas import CONTRACT, INVOICE
from demo.teams import TEAMS

SLUG = "demo"
_SPAN_FIELDS = {field["key"] for field in CONTRACT["fields"] if field["type"] == "span"}
_LOADING_SLUG = "demo-loading"
# The demo needs little disk space, so it can be loaded although the disk is nearly full.
_SETTINGS = {"LOG_LEVEL": "WARNING", "RATE_LIMITS": "off", "STORAGE_RESERVE_BYTES": "0"}
_REJECTION_REASON = (
    "The total is not the amount to pay: tax is missing. Please look at the last line again."
)

Progress = Callable[[int, int], None]


class DemoError(RuntimeError):
    """Raised if the API rejects a request, or if a document does not contain the value of a tag."""


class _DemoUser:
    """A demo user who sends API requests."""

    def __init__(self, app: Flask, person: str, password: str) -> None:
        self._client = app.test_client()
        body = {"email": build_address(person), "password": password}
        self._headers = {"X-Org-Slug": _LOADING_SLUG}
        token = self.call("POST", "/auth/login", json=body)["access_token"]
        self._headers["Authorization"] = f"Bearer {token}"

    def call(self, method: str, path: str, **kwargs: Any) -> Any:
        """Send a request, and return the response's data. Raises DemoError if it was rejected."""
        response = self._client.open(
            f"/api/v1{path}", method=method, headers=self._headers, **kwargs
        )
        if response.status_code >= 400:  # noqa: PLR2004 - HTTP
            raise DemoError(f"{method} {path}: {response.status_code} {response.text}")
        return response.get_json()["data"] if response.data else None


def load(progress: Progress) -> None:
    """Load the demo: create the organization `demo` with users, schemas, documents and tag sets.

    Calls `progress` with the numbers of completed and of all steps. DATABASE_URL, the keys and
    DEMO_PASSWORD are read from the environment. This process runs the jobs that parse documents.
    The workers run text recognition and other jobs later, so that the service is ready earlier.
    """
    # Rate limits are off, because the demo users log in within a second.
    app = create_app({**os.environ, **_SETTINGS})
    password = os.environ["DEMO_PASSWORD"]
    organization_id = _create_organization(app, password)
    people = {
        person: _DemoUser(app, person, password) for person in ("admin", "reviewer", "labeler")
    }
    schemas = {"invoice": _create_active_schema(people["admin"], INVOICE)}
    schemas["contract"] = _create_active_schema(people["admin"], CONTRACT)
    _create_teams(people["admin"])
    total = 3 * len(DOCUMENTS)
    artifacts = []
    for document in DOCUMENTS:
        artifacts.append(_upload_document(people["labeler"], document, schemas[document.schema]))
        progress(len(artifacts), total)
    _run_parsing_jobs(app, lambda done: progress(len(DOCUMENTS) + done, total))
    for number, (document, artifact_id) in enumerate(zip(DOCUMENTS, artifacts, strict=True)):
        _label_document(people, document, artifact_id)
        progress(2 * len(DOCUMENTS) + number + 1, total)
    with app.app_context(), db.transaction() as session:
        session.execute(
            update(Organization).where(Organization.id == organization_id).values(slug=SLUG)
        )


def _create_organization(app: Flask, password: str) -> UUID:
    with (
        app.app_context(),
        tenancy.across_organizations(reason="the demo creates an organization"),
        db.transaction() as session,
    ):
        session.execute(delete(Organization).where(Organization.slug == _LOADING_SLUG))
        session.execute(delete(User).where(User.email.like("%@demo.example")))
        organization = Organization(slug=_LOADING_SLUG, name="Demo Organization")
        session.add(organization)
        session.flush()
        password_hash = secrets.hash_password(password)
        for person, (role, name) in USERS.items():
            user = User(
                email=build_address(person),
                name=name,
                password_hash=password_hash,
                email_verified_at=db.utc_now(),
            )
            session.add(user)
            session.flush()
            session.add(Membership(organization_id=organization.id, user_id=user.id, role=role))
        return organization.id


def _create_active_schema(admin: _DemoUser, body: dict[str, Any]) -> str:
    schema = admin.call("POST", "/schemas", json=body)
    admin.call("POST", f"/schemas/{schema['id']}/publish", json={})
    admin.call("POST", f"/schemas/{schema['id']}/activate")
    identifier: str = schema["id"]
    return identifier


def _create_teams(admin: _DemoUser) -> None:
    members = admin.call("GET", f"/organizations/{_LOADING_SLUG}/members")
    ids_by_address = {member["user"]["email"]: member["user"]["id"] for member in members}
    users = {person: ids_by_address[build_address(person)] for person in USERS}
    ids: dict[str | None, str] = {}
    for team in TEAMS:
        body = {name: team[name] for name in ("name", "description", "skills")}
        body |= {"parent_id": ids.get(team["parent"]), "lead_id": users[team["lead"]]}
        ids[team["name"]] = admin.call("POST", "/teams", json=body)["id"]
        if team["members"]:
            new_members = {"user_ids": [users[person] for person in team["members"]]}
            admin.call("POST", f"/teams/{ids[team['name']]}/members", json=new_members)


def _upload_document(labeler: _DemoUser, document: DemoDocument, schema_id: str) -> str:
    part = (io.BytesIO(document.render()), document.name, document.media_type)
    artifact = labeler.call("POST", "/artifacts", data={"file": part, "schema_id": schema_id})
    identifier: str = artifact["id"]
    return identifier


def _run_parsing_jobs(app: Flask, advance: Callable[[int], None]) -> None:
    """Run the parsing jobs of the uploads, two at a time, because no worker is running yet."""

    def run_next(_: int) -> int:
        with app.app_context():
            return worker.run_next(app, QUEUES["documents"])

    done = 0
    with ThreadPoolExecutor(2) as pool:
        while count := sum(pool.map(run_next, range(2))):
            done += count
            advance(min(done, len(DOCUMENTS)))


def _label_document(people: dict[str, _DemoUser], document: DemoDocument, artifact_id: str) -> None:
    if document.status == "unlabeled":
        return
    labeler, reviewer = people["labeler"], people["reviewer"]
    tag_set = labeler.call("POST", f"/artifacts/{artifact_id}/tag-sets", json={"from": "empty"})
    path = f"/tag-sets/{tag_set['id']}"
    text = labeler.call("GET", f"/artifacts/{artifact_id}/text")["text"]
    tags = [_add_offsets(tag, text) for tag in _select_tags(document)]
    body = {"tags": tags, "revision": tag_set["revision"], "seconds_spent": 95}
    labeler.call("PUT", f"{path}/tags", json=body)
    if document.status == "draft":
        return
    labeler.call("POST", f"{path}/submit")
    if document.status == "accepted":
        reviewer.call("POST", f"{path}/accept", json={})
    elif document.status == "rejected":
        reviewer.call(
            "POST", f"{path}/reject", json={"reason": _REJECTION_REASON, "send_to": "pool"}
        )


def _add_offsets(tag: dict[str, Any], text: str) -> dict[str, Any]:
    """Add the offsets in `text` to a tag of a span field; other tags are returned unchanged.

    Line breaks in the text may differ from those in the value.
    """
    if tag["field"] not in _SPAN_FIELDS:
        return tag
    words = r"\s+".join(re.escape(word) for word in tag["value"].split())
    match = re.search(words, text)
    if match is None:
        raise DemoError(f"the document does not contain the value of {tag['field']}")
    return {**tag, "evidence": [{"start": match.start(), "end": match.end()}]}


def _select_tags(document: DemoDocument) -> list[dict[str, Any]]:
    """Select the tags to save for a document, depending on its status.

    A draft gets half of the correct tags. A rejected document gets a wrong total.
    """
    tags = [dict(tag) for tag in document.correct_tags]
    if document.status == "draft":
        return tags[: len(tags) // 2]
    if document.status == "rejected":
        values = {tag["field"]: tag["value"] for tag in tags}
        for tag in tags:
            if tag["field"] == "total":
                tag["value"] = values["subtotal"]
    return tags
