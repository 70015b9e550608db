"""Mutation tests: the state machine of documents must notice every broken rule."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.kit import db, events
from app.workflow.assignment.queries import claims, next_artifact
from app.workflow.assignment.queries.claimable_tables import ClaimableTable
from app.workflow.tag_sets import emitted_events
from app.workflow.tag_sets.queries import deciding, skips, statuses
from app.workflow.tag_sets.queries import drafts as draft_queries
from app.workflow.tag_sets.service import bulk, decisions, drafts, reopening, rules, submitting
from tests.factories.state_machines import Patch, copy_with, expect_failure
from tests.workflow.test_artifact_life import LIVES, STEPS, ArtifactLife

Fault = Callable[[Patch], None]


def _return_empty_list(*_: Any, **__: Any) -> list[Any]:
    """Return an empty list, as if nothing blocked an action."""
    return []


def execute(statement: str, **values: Any) -> None:
    """Run a statement in the mutated code's transaction."""
    db.session().execute(text(statement), values)


def allow_claim_takeover(patch: Patch) -> None:
    original = claims.claim

    def claim(artifact_id: Any, user_id: Any, **options: Any) -> Any:
        execute("UPDATE artifacts SET claim_user_id = NULL WHERE id = :id", id=artifact_id)
        return original(artifact_id, user_id, **options)

    patch.setattr(claims, "claim", claim)


def ignore_claims_when_claiming_next(patch: Patch) -> None:
    original = next_artifact.claim_next

    def claim_next(user_id: Any, *args: Any, **options: Any) -> Any:
        execute(
            "UPDATE artifacts SET claim_user_id = NULL WHERE organization_id = (SELECT"
            " organization_id FROM memberships WHERE user_id = :id)",
            id=user_id,
        )
        return original(user_id, *args, **options)

    patch.setattr(next_artifact, "claim_next", claim_next)


def allow_surplus_drafts(patch: Patch) -> None:
    patch.setattr(drafts, "deciding", copy_with(deciding, list_ids=_return_empty_list))


def allow_surplus_acceptances(patch: Patch) -> None:
    patch.setattr(decisions, "find_quorum", _return_empty_list)


def allow_surplus_bulk_acceptances(patch: Patch) -> None:
    patch.setattr(bulk._Batch, "count_accepted", lambda *_: 0)


def skip_reopening_check(patch: Patch) -> None:
    patch.setattr(reopening, "_check_can_reopen", _return_empty_list)


def allow_second_tag_set_by_labeler(patch: Patch) -> None:
    patch.setattr(drafts, "deciding", copy_with(deciding, find_id_by_labeler=lambda *_, **__: None))


def allow_transfer_to_earlier_labeler(patch: Patch) -> None:
    patch.setattr(decisions, "check_no_other_tag_set", _return_empty_list)


def ignore_rejection_limit(patch: Patch) -> None:
    patch.setattr(decisions, "_check_rejection_limit", _return_empty_list)


def ignore_bulk_rejection_limit(patch: Patch) -> None:
    patch.setattr(bulk, "_check_can_return", _return_empty_list)


def allow_transfer_to_removed_member(patch: Patch) -> None:
    patch.setattr(decisions, "lock_eligible_members", lambda user_ids, _role: set(user_ids))


def skip_labeler_check(patch: Patch) -> None:
    patch.setattr(rules, "check_labeler", _return_empty_list)


def show_tag_sets_to_all(patch: Patch) -> None:
    patch.setattr(rules, "can_see_all", lambda _: True)


def delete_saved_revision(patch: Patch) -> None:
    original = draft_queries.save

    def save(draft: Any, *args: Any, **options: Any) -> Any:
        saved = original(draft, *args, **options)
        execute(
            "DELETE FROM tag_set_revisions WHERE tag_set_id = :id AND number = :number",
            id=draft.id,
            number=saved.revision,
        )
        return saved

    patch.setattr(draft_queries, "save", save)


def ignore_revision_when_saving(patch: Patch) -> None:
    original = drafts.replace_tags

    def replace_tags(*args: Any, **options: Any) -> Any:
        return original(*args, **{**options, "revision": None})

    patch.setattr(drafts, "replace_tags", replace_tags)


def ignore_revision_when_deciding(patch: Patch) -> None:
    original = decisions.check_decision
    patch.setattr(
        decisions,
        "check_decision",
        lambda action, tag_set, caller, _, *team_ids: original(
            action, tag_set, caller, None, *team_ids
        ),
    )


def omit_reviewer(patch: Patch) -> None:
    original = decisions.mark_accepted

    def mark_accepted(*args: Any, **options: Any) -> None:
        original(*args, **{**options, "reviewer_id": None})

    patch.setattr(decisions, "mark_accepted", mark_accepted)


def emit_acceptance_twice(patch: Patch) -> None:
    def emit(name: str, payload: Any) -> None:
        for _ in range(2 if name == emitted_events.ACCEPTED else 1):
            events.emit(name, payload)

    patch.setattr(decisions, "events", copy_with(events, emit=emit))


def omit_bulk_events(patch: Patch) -> None:
    patch.setattr(bulk, "events", copy_with(events, emit_many=_return_empty_list))


def keep_claim_after_submitting(patch: Patch) -> None:
    patch.setattr(submitting, "drafts", copy_with(draft_queries, release_claim=_return_empty_list))


def omit_skips(patch: Patch) -> None:
    patch.setattr(skips, "create_skip", _return_empty_list)


def keep_claims_of_removed_member(patch: Patch) -> None:
    patch.setattr(ClaimableTable, "release_all", _return_empty_list)


def keep_reservations_of_removed_member(patch: Patch) -> None:
    patch.setattr(statuses, "lock_reserved_artifacts", _return_empty_list)


def _omit_status_updates(module: Any) -> Fault:
    def fault(patch: Patch) -> None:
        nothing: Any = {"update_statuses": _return_empty_list}
        patch.setattr(module, "statuses", copy_with(module.statuses, **nothing))

    fault.__name__ = f"{module.__name__.rpartition('.')[2]}_omits_status_updates"
    return fault


FAULTS: list[Fault] = [
    allow_claim_takeover,
    ignore_claims_when_claiming_next,
    allow_surplus_drafts,
    allow_surplus_acceptances,
    allow_surplus_bulk_acceptances,
    skip_reopening_check,
    allow_second_tag_set_by_labeler,
    allow_transfer_to_earlier_labeler,
    ignore_rejection_limit,
    ignore_bulk_rejection_limit,
    allow_transfer_to_removed_member,
    skip_labeler_check,
    show_tag_sets_to_all,
    delete_saved_revision,
    ignore_revision_when_saving,
    ignore_revision_when_deciding,
    omit_reviewer,
    emit_acceptance_twice,
    omit_bulk_events,
    keep_claim_after_submitting,
    omit_skips,
    keep_claims_of_removed_member,
    keep_reservations_of_removed_member,
    *map(_omit_status_updates, (drafts, submitting, decisions, reopening, bulk)),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_broken_rule_is_found(app: Flask, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    fault(Patch(monkeypatch))
    expect_failure(type("Life", (ArtifactLife,), {"flask": app}), examples=4 * LIVES, steps=STEPS)
