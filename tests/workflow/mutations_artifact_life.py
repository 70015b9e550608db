"""Mutation tests: the state machine of documents must notice every broken rule."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.kit import db, events
from app.workflow.assignment.queries import claims, next_artifact
from app.workflow.tag_sets import emitted_events
from app.workflow.tag_sets.queries import deciding, skips, statuses
from app.workflow.tag_sets.queries import drafts as draft_queries
from app.workflow.tag_sets.service import bulk, decisions, drafts, reopening, rules, submitting
from tests.factories.state_machines import Patch, copy_with, expect_failure
from tests.workflow.test_artifact_life import LIVES, STEPS, ArtifactLife

Fault = Callable[[Patch], None]


def _none(*_: Any, **__: Any) -> list[Any]:
    """Return an empty list, as if nothing blocked an action."""
    return []


def _unlocked(statement: str, **values: Any) -> None:
    db.session().execute(text(statement), values)


def claims_are_taken_over(patch: Patch) -> None:
    real = claims.claim

    def claim(artifact_id: Any, user_id: Any, **more: Any) -> Any:
        _unlocked("UPDATE artifacts SET claim_user_id = NULL WHERE id = :id", id=artifact_id)
        return real(artifact_id, user_id, **more)

    patch.setattr(claims, "claim", claim)


def the_draw_gives_what_others_hold(patch: Patch) -> None:
    real = next_artifact.claim_next

    def claim_next(user_id: Any, *given: Any, **more: Any) -> Any:
        _unlocked(
            "UPDATE artifacts SET claim_user_id = NULL WHERE organization_id = (SELECT"
            " organization_id FROM memberships WHERE user_id = :id)",
            id=user_id,
        )
        return real(user_id, *given, **more)

    patch.setattr(next_artifact, "claim_next", claim_next)


def more_are_begun_than_wanted(patch: Patch) -> None:
    patch.setattr(drafts, "deciding", copy_with(deciding, list_ids=_none))


def more_are_accepted_than_wanted(patch: Patch) -> None:
    patch.setattr(decisions, "find_quorum", _none)


def a_bulk_accepts_more_than_wanted(patch: Patch) -> None:
    patch.setattr(bulk._Batch, "count_accepted", lambda *_: 0)


def a_reopened_one_is_one_too_many(patch: Patch) -> None:
    patch.setattr(reopening, "_check_can_reopen", _none)


def one_person_labels_twice(patch: Patch) -> None:
    patch.setattr(drafts, "deciding", copy_with(deciding, find_id_by_labeler=lambda *_, **__: None))


def work_is_handed_to_who_has_labeled(patch: Patch) -> None:
    patch.setattr(decisions, "check_no_other_tag_set", _none)


def it_goes_back_without_end(patch: Patch) -> None:
    patch.setattr(decisions, "_check_rejection_limit", _none)


def a_bulk_sends_back_without_end(patch: Patch) -> None:
    patch.setattr(bulk, "_check_can_return", _none)


def work_is_handed_to_who_left(patch: Patch) -> None:
    patch.setattr(decisions, "lock_eligible_members", lambda user_ids, _role: set(user_ids))


def drafts_are_anybodys(patch: Patch) -> None:
    patch.setattr(rules, "check_labeler", _none)


def nobody_labels_blind(patch: Patch) -> None:
    patch.setattr(rules, "can_see_all", lambda _: True)


def a_save_leaves_no_revision(patch: Patch) -> None:
    real = draft_queries.save

    def save(draft: Any, *given: Any, **more: Any) -> Any:
        saved = real(draft, *given, **more)
        _unlocked(
            "DELETE FROM tag_set_revisions WHERE tag_set_id = :id AND number = :number",
            id=draft.id,
            number=saved.revision,
        )
        return saved

    patch.setattr(draft_queries, "save", save)


def a_save_goes_over_anothers(patch: Patch) -> None:
    real = drafts.replace_tags

    def replace_tags(*given: Any, **more: Any) -> Any:
        return real(*given, **{**more, "revision": None})

    patch.setattr(drafts, "replace_tags", replace_tags)


def a_verdict_is_on_what_nobody_saw(patch: Patch) -> None:
    real = decisions.check_decision
    patch.setattr(
        decisions,
        "check_decision",
        lambda action, held, caller, _, *team_ids: real(action, held, caller, None, *team_ids),
    )


def nobody_accepted_it(patch: Patch) -> None:
    real = decisions.mark_accepted

    def mark_accepted(*given: Any, **more: Any) -> None:
        real(*given, **{**more, "reviewer_id": None})

    patch.setattr(decisions, "mark_accepted", mark_accepted)


def an_acceptance_is_told_twice(patch: Patch) -> None:
    def emit(name: str, payload: Any) -> None:
        for _ in range(2 if name == emitted_events.ACCEPTED else 1):
            events.emit(name, payload)

    patch.setattr(decisions, "events", copy_with(events, emit=emit))


def a_bulk_tells_nobody(patch: Patch) -> None:
    patch.setattr(bulk, "events", copy_with(events, emit_many=_none))


def no_claim_ends_with_the_work(patch: Patch) -> None:
    patch.setattr(submitting, "drafts", copy_with(draft_queries, release_claim=_none))


def nobody_is_kept_from_what_they_skipped(patch: Patch) -> None:
    patch.setattr(skips, "create_skip", _none)


def who_left_keeps_what_they_hold(patch: Patch) -> None:
    patch.setattr(claims, "release_all", _none)


def documents_stay_reserved_for_who_left(patch: Patch) -> None:
    patch.setattr(statuses, "lock_reserved", _none)


def _forgets(module: Any) -> Fault:
    def fault(patch: Patch) -> None:
        nothing: Any = {"update_statuses": _none}
        patch.setattr(module, "statuses", copy_with(module.statuses, **nothing))

    fault.__name__ = f"{module.__name__.rpartition('.')[2]}_leaves_the_document_as_it_was"
    return fault


FAULTS: list[Fault] = [
    claims_are_taken_over,
    the_draw_gives_what_others_hold,
    more_are_begun_than_wanted,
    more_are_accepted_than_wanted,
    a_bulk_accepts_more_than_wanted,
    a_reopened_one_is_one_too_many,
    one_person_labels_twice,
    work_is_handed_to_who_has_labeled,
    it_goes_back_without_end,
    a_bulk_sends_back_without_end,
    work_is_handed_to_who_left,
    drafts_are_anybodys,
    nobody_labels_blind,
    a_save_leaves_no_revision,
    a_save_goes_over_anothers,
    a_verdict_is_on_what_nobody_saw,
    nobody_accepted_it,
    an_acceptance_is_told_twice,
    a_bulk_tells_nobody,
    no_claim_ends_with_the_work,
    nobody_is_kept_from_what_they_skipped,
    who_left_keeps_what_they_hold,
    documents_stay_reserved_for_who_left,
    *map(_forgets, (drafts, submitting, decisions, reopening, bulk)),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_broken_rule_is_found(app: Flask, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    fault(Patch(monkeypatch))
    expect_failure(type("Life", (ArtifactLife,), {"flask": app}), examples=4 * LIVES, steps=STEPS)
