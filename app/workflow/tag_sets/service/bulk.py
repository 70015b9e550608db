"""Verdicts on many label sets at once: each by the rules of a single one, all in one pass."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any
from uuid import UUID

from app.identity.members.eligibility import lock_eligible
from app.kit import bulk, db, errors, events
from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.schemas.artifact_schemas import service as schemas
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.queries import bulk as queries
from app.workflow.tag_sets.queries import deciding
from app.workflow.tag_sets.service import rules, skips, statuses
from app.workflow.tag_sets.service.decisions import DECIDED, check_labels
from app.workflow.tag_sets.service.drafts import told
from app.workflow.tag_sets.service.reviewing import check_review


def _max_rejections(held: Any) -> int | None:
    # Not `rules.terms`, which would read and compile each version that is among a thousand.
    limit: int | None = {**schemas.DEFAULT_POLICY, **held.review_policy}["max_rejections"]
    return limit


class _Batch:
    """The label sets of a call, locked, and those beside them; verdicts are tried out on it."""

    def __init__(
        self, tag_set_ids: Sequence[UUID], caller: Caller, unfit: bulk.Unfit | None
    ) -> None:
        self.ids = list(dict.fromkeys(tag_set_ids))
        self.caller = caller
        locked = {row.id: row for row in queries.lock(self.ids)}
        self.failures: dict[UUID, ApiError] = bulk.missing(self.ids, locked)
        if unfit is not None:
            self.failures.update(unfit(self.ids))
        self.held = {one: row for one, row in locked.items() if one not in self.failures}
        self.teams = self._teams()
        self.merged: set[UUID] = set()
        self.beside: dict[UUID, dict[UUID, tuple[UUID | None, str]]] = defaultdict(dict)
        for row in queries.siblings({row.artifact_id for row in self.held.values()}):
            self.beside[row.artifact_id][row.id] = (row.labeler_id, row.status)
            if row.source == "merge" and row.status == "accepted":
                self.merged.add(row.artifact_id)

    def _teams(self) -> set[UUID]:
        assigned = any(row.assignee_team_id is not None for row in self.held.values())
        return deciding.teams_of(self.caller.user_id) if assigned else set()

    def decide(self, check: Callable[[Any], str]) -> list[Any]:
        """Those on which the verdict stands, in order. `check` says the state that it makes, or
        raises; what it made of one counts for the next of the same document."""
        decided = []
        for held in (self.held[one] for one in self.ids if one in self.held):
            try:
                rules.check_reviewer(self.caller, held)
                rules.check_state(held, "submitted", None)
                check_review(self.caller, held, teams=self.teams)
                state = check(held)
            except ApiError as failure:
                self.failures[held.id] = failure
            else:
                self.beside[held.artifact_id][held.id] = (held.labeler_id, state)
                decided.append(held)
        return decided

    def labelers(self) -> set[UUID]:
        """Who labeled them."""
        return {row.labeler_id for row in self.held.values() if row.labeler_id is not None}

    def accepted(self, held: Any) -> int:
        """How many label sets of its document are accepted."""
        return sum(state == "accepted" for _, state in self.beside[held.artifact_id].values())

    def has_other(self, held: Any, states: Sequence[str]) -> bool:
        """Whether its labeler has another label set of its document in one of `states`."""
        return any(
            labeler_id == held.labeler_id and state in states and one != held.id
            for one, (labeler_id, state) in self.beside[held.artifact_id].items()
        )


def accept_many(
    tag_set_ids: Sequence[UUID],
    *,
    caller: Caller,
    note: str | None = None,
    unfit: bulk.Unfit | None = None,
) -> bulk.Failures:
    """Accept submitted label sets but those that are `unfit`; why others failed.

    It may be not_found, permission_denied on one's own, or conflict: another state, in the hands of
    others, or its document has as many accepted ones, those of this call included, as its schema
    asks for. Emits `tag_set.accepted` for each that was accepted.
    """
    batch = _Batch(tag_set_ids, caller, unfit)

    def check(held: Any) -> str:
        if held.source == "merge":
            raise errors.conflict("A merge decides on its sources too: accept it by itself.")
        enough = batch.accepted(held) >= held.labels_wanted
        if enough or held.artifact_id in batch.merged:
            raise errors.conflict(
                "The document has as many accepted label sets as its schema asks for."
            )
        return "accepted"

    decided = batch.decide(check)
    if not decided:
        return batch.failures
    values = {**DECIDED, "status": "accepted", "reviewer_id": caller.user_id, "reason": note}
    _change(decided, values, kind="accept", caller=caller)
    _conclude("accepted", decided, reviewer_id=caller.user_id, corrected=False)
    return batch.failures


def reject_many(
    tag_set_ids: Sequence[UUID],
    *,
    caller: Caller,
    reason: str,
    send_to: str,
    unfit: bulk.Unfit | None = None,
) -> bulk.Failures:
    """Reject submitted label sets but those that are `unfit`, with one reason; why others failed.

    `send_to` `labeler` makes each a draft of its labeler again, `pool` leaves it rejected. Beside
    what keeps from accepting, it may be conflict when the labeler has another label set of the
    document, or the schema lets no more go back; validation_error when there is no labeler, or they
    label here no more. Emits `tag_set.rejected` for each that was rejected.
    """
    batch = _Batch(tag_set_ids, caller, unfit)
    back = send_to == "labeler"
    labelers = lock_eligible(batch.labelers(), Role.labeler) if back else set()

    def check(held: Any) -> str:
        if not back:
            return "rejected"
        _check_return(batch, held, labelers)
        return "draft"

    decided = batch.decide(check)
    if not decided:
        return batch.failures
    verdict = {"reviewer_id": caller.user_id, "reason": reason}
    status = "draft" if back else "rejected"
    values = {**DECIDED, **verdict, "status": status, "rejections": TagSet.rejections + 1}
    _change(decided, values, kind="reject", caller=caller)
    if back:
        _reserve(decided, caller)
    else:
        _pass_over(decided, reason)
    _conclude("rejected", decided, **verdict, send_to=send_to, draft_id=None)
    return batch.failures


def _pass_over(rejected: list[Any], reason: str) -> None:
    """Let the documents come last for those whose tag sets of them were rejected."""
    labelers: dict[UUID, list[UUID]] = {}
    for held in rejected:
        if held.labeler_id is not None:
            labelers.setdefault(held.artifact_id, []).append(held.labeler_id)
    # One statement, unless several tag sets of a document were rejected.
    while labelers:
        skips.defer_artifacts(
            {document: users.pop() for document, users in labelers.items()}, reason
        )
        labelers = {document: users for document, users in labelers.items() if users}


def _reserve(returned: list[Any], caller: Caller) -> None:
    """Let the labelers of what went back hold its documents."""
    # Of several label sets of a document, the first one's labeler goes on.
    heirs = {held.artifact_id: held.labeler_id for held in reversed(returned)}
    queries.take_claims(heirs, minutes=rules.claim_minutes(caller))


def _check_return(batch: _Batch, held: Any, labelers: AbstractSet[UUID]) -> None:
    limit = _max_rejections(held)
    if held.labeler_id is None:
        raise errors.invalid("The label set has no labeler to go back to.", "send_to")
    check_labels(held.labeler_id, labelers)
    if limit is not None and held.rejections + held.earlier_rejections >= limit:
        raise errors.conflict(
            "It was sent back as often as the schema allows. Send it to the pool or to a member."
        )
    if batch.has_other(held, rules.states_in_the_way(held.labels_wanted)):
        raise errors.conflict("The labeler has another label set of this document.")


def _change(decided: list[Any], values: dict[str, Any], *, kind: str, caller: Caller) -> None:
    queries.change(
        [held.id for held in decided],
        {**values, "decided_at": db.utc_now()},
        kind=kind,
        author_id=caller.user_id,
        note=values["reason"],
    )


def _conclude(what: str, decided: list[Any], **more: Any) -> None:
    events.emit_many(f"tag_set.{what}", [told(held.id, held._asdict(), **more) for held in decided])
    statuses.update_statuses(list({held.artifact_id for held in decided}))
