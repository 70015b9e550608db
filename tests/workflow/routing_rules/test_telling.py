"""What people are told of documents that rules gave them: once, and of their own number."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from app.kit import db
from app.kit.jobs import LostLease
from app.kit.jobs.handlers import HANDLERS
from app.workflow.routing_rules.service import routing
from tests.factories.routing import Router, where

Work = Callable[[], None]


@pytest.fixture(autouse=True)
def _set_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routing, "BATCH_SIZE", 2)


def _count_notifications(router: Router) -> Counter[tuple[str, str]]:
    """(user, title) of every notification."""
    names = {user_id: name for name, user_id in router.org.users.items()}
    rows = router.workspace.sql("SELECT user_id, title FROM notifications")
    return Counter((names[row.user_id], row.title) for row in rows)


def test_many_batches_are_one_notification_to_each(router: Router, work: Work) -> None:
    team = router.team("ann", "ben")
    artifacts = [router.workspace.artifact() for _ in range(7)]
    router.rule(team_id=team, strategy="round_robin", apply=True)
    work()
    assert len(router.workspace.events("artifacts.assigned")) == 4
    assert sorted(Counter(map(router.get_assignee, artifacts)).values()) == [3, 4]
    given = Counter(map(router.get_assignee, artifacts))
    assert _count_notifications(router) == {
        (name, f"{given[name]} documents were assigned to you"): 1 for name in ("ann", "ben")
    }


def test_a_run_that_goes_on_tells_of_what_is_left(router: Router, work: Work) -> None:
    router.rule(user_id=str(router.org.users["labeler"]))
    for _ in range(5):
        router.workspace.artifact()

    def lost() -> None:
        db.checkpoint()
        raise LostLease

    def run(checkpoint: Callable[[], None]) -> None:
        with router.workspace.transaction():
            routing.route_unassigned(checkpoint)

    with pytest.raises(LostLease):
        run(lost)
    work()
    assert _count_notifications(router) == {("labeler", "2 documents were assigned to you"): 1}
    run(db.checkpoint)
    run(db.checkpoint)
    work()
    assert _count_notifications(router) == {("labeler", "5 documents were assigned to you"): 1}


def test_whoever_got_something_of_a_run_that_was_given_up_is_told(
    router: Router, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    router.rule(user_id=str(router.org.users["labeler"]))
    artifacts = [router.workspace.artifact() for _ in range(5)]
    poisoned, write = max(artifacts), routing._write_assignments

    def fail(found: list[routing.MatchedDocument], *more: object) -> None:
        if poisoned in {one.artifact_id for one in found}:
            raise RuntimeError
        write(found, *more)

    monkeypatch.setattr(routing, "_write_assignments", fail)
    once = replace(HANDLERS["routing_rules.apply"], max_attempts=1)
    monkeypatch.setitem(HANDLERS, once.name, once)
    router.rule(where("name", "equals", "never"), priority=1, apply=True)
    work()
    assert _count_notifications(router) == {("labeler", "4 documents were assigned to you"): 1}


def test_two_applications_in_a_row_are_counted_together(router: Router, work: Work) -> None:
    router.rule(user_id=str(router.org.users["labeler"]))
    for _ in range(2):
        for _ in range(3):
            router.workspace.artifact()
        assert router.apply() == 3
    work()
    assert _count_notifications(router) == {("labeler", "6 documents were assigned to you"): 1}


def test_of_a_single_document_the_name_is_told(router: Router, work: Work) -> None:
    router.rule(user_id=str(router.org.users["labeler"]))
    router.workspace.artifact(name="Bill.pdf")
    assert router.apply() == 1
    work()
    assert _count_notifications(router) == {("labeler", "Bill.pdf was assigned to you"): 1}


def test_members_of_teams_are_told_the_number_of_theirs(router: Router, work: Work) -> None:
    bills, letters = router.team("ann", "both"), router.team("ben", "both")
    router.rule(where("name", "equals", "bill"), team_id=bills)
    router.rule(team_id=letters)
    for name in ("bill", "letter", "bill", "letter", "letter"):
        router.workspace.artifact(name=name)
    assert router.apply() == 5
    work()
    assert _count_notifications(router) == {
        (name, f"{number} documents were assigned to you"): 1
        for name, number in (("ann", 2), ("ben", 3), ("both", 5))
    }
