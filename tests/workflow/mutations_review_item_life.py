"""Mutation tests: the state machine of review items must notice every broken rule."""

from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask

from app.kit import events
from app.workflow.review_queue.queries import items, next_item
from app.workflow.review_queue.service import assigning
from app.workflow.tag_sets.queries import deciding
from app.workflow.tag_sets.service import bulk, decisions, rules
from tests.factories.state_machines import Patch, copy_with, expect_failure
from tests.workflow.mutations_artifact_life import (
    Fault,
    execute,
    ignore_bulk_rejection_limit,
    ignore_rejection_limit,
    ignore_revision_when_deciding,
    omit_bulk_events,
    omit_reviewer,
)
from tests.workflow.test_review_item_life import LIVES, STEPS, ReviewItemLife


def _return_zero(*_: Any, **__: Any) -> int:
    """Return 0, as if nothing blocked an action or nothing was changed."""
    return 0


def _hide_members(patch: Patch, **members: None) -> None:
    """Replace members of a review with other values when it is checked."""
    original = rules.check_review

    def check_review(caller: Any, review: Any, **options: Any) -> None:
        original(caller, SimpleNamespace(**{**review._asdict(), **members}), **options)

    patch.setattr(rules, "check_review", check_review)


def skip_reviewer_check(patch: Patch) -> None:
    patch.setattr(rules, "check_reviewer", _return_zero)


def claim_own_tag_sets(patch: Patch) -> None:
    original = next_item.claim_next

    def claim_next(*args: Any, **criteria: Any) -> Any:
        return original(*args, **{**criteria, "allows_self_review": True})

    patch.setattr(next_item, "claim_next", claim_next)


def ignore_claims(patch: Patch) -> None:
    _hide_members(patch, claimed_by=None)


def ignore_assigned_user(patch: Patch) -> None:
    _hide_members(patch, assignee_id=None)


def ignore_assigned_team(patch: Patch) -> None:
    _hide_members(patch, assignee_team_id=None)


def ignore_claims_when_claiming_next(patch: Patch) -> None:
    original = next_item.claim_next

    def claim_next(user_id: Any, **options: Any) -> Any:
        execute(
            "UPDATE tag_sets SET claim_user_id = NULL WHERE organization_id = (SELECT"
            " organization_id FROM memberships WHERE user_id = :id)",
            id=user_id,
        )
        return original(user_id, **options)

    patch.setattr(next_item, "claim_next", claim_next)


def reset_review_ranks(patch: Patch) -> None:
    original = deciding.update_tag_sets

    def change(tag_set_ids: Any, *args: Any, **details: Any) -> None:
        original(tag_set_ids, *args, **details)
        ids = list(tag_set_ids)
        execute("UPDATE tag_sets SET review_rank = 0 WHERE id = ANY (:ids)", ids=ids)

    patch.setattr(deciding, "update_tag_sets", change)


def keep_review_state_after_decision(patch: Patch) -> None:
    patch.setattr(decisions, "REVIEW_RESET", {})


def keep_review_state_after_bulk_decision(patch: Patch) -> None:
    original, review_columns = bulk.build_decision, decisions.REVIEW_RESET.keys()

    def build_decision(*args: Any, **values: Any) -> dict[str, Any]:
        decision = original(*args, **values)
        return {name: decision[name] for name in decision.keys() - review_columns}

    patch.setattr(bulk, "build_decision", build_decision)


def omit_escalation(patch: Patch) -> None:
    patch.setattr(items, "assign", _return_zero)


def omit_assignment_events(patch: Patch) -> None:
    patch.setattr(assigning, "events", copy_with(events, emit_many=_return_zero))


def keep_reviews_of_deleted_team(patch: Patch) -> None:
    patch.setattr(items, "unassign_team", lambda _: [])


FAULTS: list[Fault] = [
    skip_reviewer_check,
    claim_own_tag_sets,
    ignore_claims,
    ignore_assigned_user,
    ignore_assigned_team,
    ignore_claims_when_claiming_next,
    reset_review_ranks,
    keep_review_state_after_decision,
    keep_review_state_after_bulk_decision,
    omit_escalation,
    omit_assignment_events,
    ignore_revision_when_deciding,
    ignore_rejection_limit,
    ignore_bulk_rejection_limit,
    omit_bulk_events,
    omit_reviewer,
    keep_reviews_of_deleted_team,
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_broken_rule_is_found(app: Flask, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    fault(Patch(monkeypatch))
    expect_failure(type("Life", (ReviewItemLife,), {"flask": app}), examples=4 * LIVES, steps=STEPS)
