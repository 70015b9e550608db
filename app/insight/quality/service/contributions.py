"""Compute the contributions of one document to the daily aggregates (`QualityCell`)."""

from itertools import pairwise
from zoneinfo import ZoneInfo

from app.engines.agreement.boxes import Budget
from app.engines.agreement.comparing import Change, diff_by_content
from app.engines.agreement.measures import MAX_MATCHED_MARKS
from app.engines.agreement.tag_keys import FieldSpecs
from app.insight.quality.models import CellSubject
from app.insight.quality.queries.documents import DocumentHistory, TagSetHistory
from app.insight.quality.service.comparisons import add_accuracy, add_agreement
from app.insight.quality.service.tally import Contributions, Tally
from app.workflow.tag_sets.service import rules
from app.workflow.tag_sets.transitions import TagSetStatus

_DECISION_COUNTERS = {"accept": "accepted", "correction": "corrected", "reject": "rejected"}
_OUTCOME_KINDS = (*_DECISION_COUNTERS, "reopen")


def compute_contributions(document: DocumentHistory, zone: ZoneInfo) -> Contributions:
    """Compute the contributions of a document to the counters of the daily aggregates.

    Contributions depend only on the document and its tag sets, so computing them again gives the
    same result.
    """
    tally = Tally(zone)
    for tag_set in document.tag_sets:
        _add_submissions(tally, tag_set)
        _add_decisions(tally, tag_set)
        if document.has_tags:
            _add_overturned_decisions(tally, tag_set)
            _add_reviewed_fields(tally, tag_set)
    if document.has_tags:
        budget = Budget(MAX_MATCHED_MARKS)
        for schema_id in {tag_set.schema_id for tag_set in document.tag_sets}:
            add_agreement(tally, schema_id, document, budget)
        if document.gold:
            add_accuracy(tally, document, budget)
    return dict(tally.counts)


def _add_submissions(tally: Tally, tag_set: TagSetHistory) -> None:
    subjects = tag_set.list_subjects()
    submissions = tag_set.list_submissions()
    for revision in submissions:
        tally.add(revision.created_at, tag_set.schema_id, subjects, submitted=1)
    # The recorded time of a returned draft is still growing. It is counted at the next submission.
    if submissions and tag_set.seconds_spent > 0 and tag_set.status != TagSetStatus.DRAFT:
        at = submissions[-1].created_at
        tally.add(at, tag_set.schema_id, subjects, timed=1, seconds=tag_set.seconds_spent)


def _add_decisions(tally: Tally, tag_set: TagSetHistory) -> None:
    for revision in tag_set.revisions:
        counter = _DECISION_COUNTERS.get(revision.kind)
        if counter is None:
            continue
        subjects = tag_set.list_subjects()
        if revision.author_id is None:
            counter = "auto_accepted"
        else:
            subjects = [*subjects, (CellSubject.REVIEWER, str(revision.author_id), "")]
        tally.add(revision.created_at, tag_set.schema_id, subjects, **{counter: 1})


def _add_overturned_decisions(tally: Tally, tag_set: TagSetHistory) -> None:
    outcomes = [revision for revision in tag_set.revisions if revision.kind in _OUTCOME_KINDS]
    for position, decision in enumerate(outcomes):
        if decision.author_id is None or decision.kind == "reopen":
            continue
        later_outcomes = outcomes[position + 1 :]
        if decision.kind == "reject":
            next_decision = next(
                (revision for revision in later_outcomes if revision.kind != "reopen"), None
            )
            is_overturned = (
                next_decision is not None
                and next_decision.kind == "accept"
                and next_decision.tags == decision.tags
            )
        else:
            is_overturned = bool(later_outcomes) and later_outcomes[0].kind == "reopen"
        if is_overturned:
            subjects = [(CellSubject.REVIEWER, str(decision.author_id), "")]
            tally.add(decision.created_at, tag_set.schema_id, subjects, overturned=1)


def _add_reviewed_fields(tally: Tally, tag_set: TagSetHistory) -> None:
    """Count the fields whose values a reviewer kept or changed when accepting the tag set."""
    if tag_set.labeler_id is None:
        return
    for old_revision, new_revision in pairwise(tag_set.revisions):
        if new_revision.kind not in ("accept", "correction") or new_revision.author_id is None:
            continue
        field_specs = rules.get_version_rules(tag_set.schema_version_id).field_specs
        names = {tag["field"] for tag in (*old_revision.tags, *new_revision.tags)}
        changed_fields = set()
        if new_revision.kind == "correction":
            changes = diff_by_content(old_revision.tags, new_revision.tags, field_specs).changes
            changed_fields = {
                change["field"] for change in changes if _changes_value(change, field_specs)
            }
        for name in names & field_specs.keys():
            counter = "corrected" if name in changed_fields else "accepted"
            subjects = [(CellSubject.FIELD, name, field_specs[name].field_type)]
            tally.add(new_revision.created_at, tag_set.schema_id, subjects, **{counter: 1})


def _changes_value(change: Change, field_specs: FieldSpecs) -> bool:
    """Return whether a change adds, removes or changes a value, or moves a mark."""
    if change["kind"] != "changed":
        return True
    field_spec = field_specs.get(change["field"])
    properties = (
        {"value", "evidence"} if field_spec is not None and field_spec.has_marks else {"value"}
    )
    return not properties.isdisjoint(change["members"])
