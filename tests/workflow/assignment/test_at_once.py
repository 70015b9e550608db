"""Concurrent claims of the next document: each document is claimed exactly once."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from typing import Any
from uuid import UUID

import psycopg2
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.kit import db, tenancy
from app.workflow.assignment.queries import next_artifact
from app.workflow.assignment.service import assigning
from tests.factories.queueing import run_concurrently
from tests.factories.sessions import terminate_backend
from tests.factories.teams import create_team
from tests.factories.workspace import Workspace, counts
from tests.workflow.assignment.conftest import assign, claim_next, to

_PEOPLE = 12
"""As many as the application of the tests has connections for."""


_CHANGED = 200
"""More documents than one claim tries to lock."""


def _add_labelers(workspace: Workspace, number: int) -> list[str]:
    names = [f"person{n}" for n in range(number)]
    for name in names:
        workspace.org.add_user(name, "labeler")
    return names


def _run_for_each(names: Sequence[str], act: Callable[[str], Any]) -> dict[str, Any]:
    """What each person's act came to; all start at the same instant."""
    results = run_concurrently(*(partial(act, name) for name in names))
    return dict(zip(names, results, strict=True))


def _claim_all(
    workspace: Workspace, by: str, work: Callable[[UUID, str], object] | None = None
) -> list[UUID]:
    """All that somebody draws until nothing is left for them."""
    found = []
    # What others look at in the same instant is passed over: nothing there is asked for twice.
    for _ in range(2):
        while (artifact_id := claim_next(workspace, by, skip_held=True)) is not None:
            found.append(artifact_id)
            if work is not None:
                work(artifact_id, by)
    return found


def test_every_document_is_drawn_once(workspace: Workspace) -> None:
    schemas = [workspace.schema(), workspace.schema()]
    made = {workspace.artifact(schemas[n % 2], priority=n % 5) for n in range(200)}
    claimed_ids_by_user = _run_for_each(
        _add_labelers(workspace, _PEOPLE), lambda name: _claim_all(workspace, name)
    )
    taken = Counter(one for found in claimed_ids_by_user.values() for one in found)
    assert set(taken) == made
    assert set(taken.values()) == {1}
    rows = workspace.sql("SELECT id, claim_user_id FROM artifacts")
    assert {(row.id, row.claim_user_id) for row in rows} == {
        (one, workspace.org.users[name])
        for name, found in claimed_ids_by_user.items()
        for one in found
    }


def test_documents_of_two_teams_stay_in_them(workspace: Workspace) -> None:
    org, schema = workspace.org, workspace.schema()
    people = _add_labelers(workspace, 8)
    halves = {"A": people[:4], "B": people[4:]}
    made: dict[str, set[UUID]] = {}
    for name, members in halves.items():
        assignees = to(team_id=create_team(org, *members))
        made[name] = {workspace.artifact(schema, assignees=assignees) for _ in range(20)}
    claimed_ids_by_user = _run_for_each(people, lambda name: _claim_all(workspace, name))
    for name, members in halves.items():
        taken = [one for member in members for one in claimed_ids_by_user[member]]
        assert len(taken) == len(made[name])
        assert set(taken) == made[name]


def test_overlapping_documents_are_labeled_by_each_once(workspace: Workspace) -> None:
    schema = workspace.schema(labels_per_artifact=3)
    made = {workspace.artifact(schema) for _ in range(4)}
    people = _add_labelers(workspace, 3)

    def label(name: str) -> list[UUID]:
        found: list[UUID] = []
        # One labels a document at a time: what others have now comes back later.
        while len(found) < len(made):
            found += _claim_all(workspace, name, lambda one, by: workspace.submitted(one, by=by))
        return found

    claimed_ids_by_user = _run_for_each(people, label)
    assert all(
        len(found) == len(made) and set(found) == made for found in claimed_ids_by_user.values()
    )
    for one in made:
        row = workspace.artifact_row(one)
        assert (row.status, row.label_counts) == ("in_review", counts(submitted=3))


def test_a_transaction_that_is_killed_gives_its_document_back(
    workspace: Workspace, environ: dict[str, str]
) -> None:
    org, artifact = workspace.org, workspace.artifact()
    with org.app.app_context(), tenancy.organization(org.id):
        criteria = next_artifact.ClaimCriteria()
        found = next_artifact.claim_next(org.users["labeler"], criteria, minutes=30).artifact
        assert found.id == artifact
        # Nobody waits for it, and nobody is given it. (In a thread: another one's session.)
        assert _run_for_each(["admin"], lambda name: claim_next(workspace, name)) == {"admin": None}
        session = db.session()
        (pid,) = session.execute(text("SELECT pg_backend_pid()")).one()
        terminate_backend(environ["DATABASE_URL"], pid)
        with pytest.raises(DBAPIError):
            session.execute(text("SELECT 1"))
        session.rollback()
    assert claim_next(workspace, "admin") == artifact


def test_whoever_draws_passes_over_all_that_others_change(
    workspace: Workspace, environ: dict[str, str]
) -> None:
    schema = workspace.schema()
    urgent = [str(workspace.artifact(schema, priority=90)) for _ in range(_CHANGED)]
    quiet = workspace.artifact(schema, priority=1)
    with closing(psycopg2.connect(environ["DATABASE_URL"])) as other:
        cursor = other.cursor()
        cursor.execute("SET LOCAL app.all_organizations = 'on'")
        cursor.execute(
            "SELECT id FROM artifacts WHERE id = ANY (CAST(%s AS uuid[])) FOR NO KEY UPDATE",
            (urgent,),
        )
        assert len(cursor.fetchall()) == _CHANGED
        assert claim_next(workspace) == quiet


@pytest.mark.parametrize("commits", [True, False])
def test_claiming_next_tries_again_if_others_change_all_candidates(
    workspace: Workspace, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, commits: bool
) -> None:
    artifact = str(workspace.artifact())
    original = next_artifact.claim_next
    results: list[next_artifact.ClaimResult] = []
    with closing(psycopg2.connect(environ["DATABASE_URL"])) as other:
        cursor = other.cursor()
        cursor.execute("SET LOCAL app.all_organizations = 'on'")
        cursor.execute("UPDATE artifacts SET updated_at = now() WHERE id = %s", (artifact,))

        def claim_and_record(*args: Any, **kwargs: Any) -> next_artifact.ClaimResult:
            results.append(original(*args, **kwargs))
            if commits:
                other.commit()
            return results[-1]

        monkeypatch.setattr(next_artifact, "claim_next", claim_and_record)
        found = claim_next(workspace)
    assert found == (UUID(artifact) if commits else None)
    assert [result.artifact is not None for result in results] == (
        [False, True] if commits else [False] * 3
    )
    assert all(result.had_candidates for result in results)


@pytest.mark.parametrize("by_team", [False, True])
def test_whoever_is_given_documents_labels_until_they_are_given(
    workspace: Workspace, environ: dict[str, str], by_team: bool
) -> None:
    org, me = workspace.org, workspace.org.users["labeler"]
    team = create_team(org, "labeler")
    artifact = workspace.artifact()
    whom = {"team_id": UUID(team)} if by_team else {"user_ids": [me]}
    with (
        org.app.app_context(),
        tenancy.organization(org.id),
        closing(psycopg2.connect(environ["DATABASE_URL"])) as other,
    ):
        by = org.users["admin"]
        assigning.bulk_assign(by=by, strategy="round_robin", artifact_ids=[artifact], **whom)
        cursor = other.cursor()
        cursor.execute("SET LOCAL app.all_organizations = 'on'")
        # As whoever lowers a role does: what they have is taken back by a job, which must not run
        # before there is anything to take.
        with pytest.raises(psycopg2.errors.LockNotAvailable):
            cursor.execute(
                "SELECT FROM memberships WHERE organization_id = %s AND user_id = %s"
                " FOR NO KEY UPDATE NOWAIT",
                (str(org.id), str(me)),
            )
        db.session().rollback()


def test_documents_assigned_while_others_draw_go_to_one_or_the_other(workspace: Workspace) -> None:
    schema = workspace.schema()
    made = [str(workspace.artifact(schema)) for _ in range(40)]
    admin = str(workspace.org.users["admin"])

    def act(name: str) -> list[UUID]:
        if name == "reviewer":
            for one in made:
                answer = assign(workspace, one, by=name, user_ids=[admin])
                assert answer.status_code == 200, answer.json
            return []
        return _claim_all(workspace, name)

    people = [*_add_labelers(workspace, 4), "reviewer"]
    claimed_ids_by_user = [one for found in _run_for_each(people, act).values() for one in found]
    remaining_ids = _claim_all(workspace, "admin")
    assert sorted(map(str, [*claimed_ids_by_user, *remaining_ids])) == sorted(made)
