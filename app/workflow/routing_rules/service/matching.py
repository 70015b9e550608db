"""Matching of rules against stored documents, with a time limit for each document and batch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from uuid import UUID

from app.engines.conditions.attributes import DocumentAttributes
from app.engines.conditions.time_limits import EvaluationTimeout, TimeLimit
from app.kit.logging import get_logger
from app.workflow.routing_rules.queries import documents
from app.workflow.routing_rules.queries.documents import DocumentRow
from app.workflow.routing_rules.service import compiled_rules, limits
from app.workflow.routing_rules.service.compiled_rules import MergedAction, Rule

log = get_logger(__name__)

CHUNK_SIZE = 1000
CHUNK_SIZE_WITH_TEXT = 100
"""The number of documents to read at once if a rule needs their text, to limit the memory."""


@dataclass(frozen=True, slots=True)
class MatchedDocument:
    """A document, the rules (if any) that match it, the merged action, and the resulting schema."""

    artifact_id: UUID
    schema_id: UUID | None
    rules: list[Rule]
    action: MergedAction


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The result of matching a batch of artifacts.

    `timed_out_ids` are the artifacts on which the rules exceeded the time limit; whether the rules
    match these artifacts is unknown. `remaining_ids` are the artifacts that were not evaluated,
    because the batch took too long. If the ids of the batch were in order of creation, these
    artifacts are the last of the batch.
    """

    matched_documents: list[MatchedDocument] = field(default_factory=list)
    timed_out_ids: list[UUID] = field(default_factory=list)
    remaining_ids: list[UUID] = field(default_factory=list)


def find_matches(ids: Sequence[UUID], rules: Sequence[Rule]) -> MatchResult:
    """Find the artifacts that at least one rule matches.

    The artifacts are read in chunks; in each chunk, the oldest artifact comes first. Evaluates at
    least one artifact, and stops after `limits.MAX_BATCH_SECONDS`, even if artifacts remain.
    """
    attributes = compiled_rules.list_attributes(rules)
    rule_set = compiled_rules.RuleSet(rules)
    result = MatchResult()
    evaluated_ids: set[UUID] = set()
    ends_at = monotonic() + limits.MAX_BATCH_SECONDS
    for row in _iterate_rows(ids, attributes):
        if evaluated_ids and monotonic() >= ends_at:
            result.remaining_ids.extend(id_ for id_ in ids if id_ not in evaluated_ids)
            break
        evaluated_ids.add(row.id)
        time_limit = TimeLimit(limits.MAX_DOCUMENT_SECONDS)
        document = DocumentAttributes(row.attributes, time_limit)
        try:
            matching_rules = rule_set.find_matches(document)
        except EvaluationTimeout:
            log.warning("routing.timed_out", artifact_id=str(row.id))
            result.timed_out_ids.append(row.id)
            continue
        if matching_rules:
            result.matched_documents.append(
                build_matched_document(row.id, row.schema_id, matching_rules, labeled=row.labeled)
            )
    return result


def build_matched_document(
    artifact_id: UUID, schema_id: UUID | None, rules: list[Rule], *, labeled: bool
) -> MatchedDocument:
    """Build a `MatchedDocument` with the merged action of the rules that matched.

    A document with tag sets (`labeled`) keeps its schema, because the tag sets use that schema.
    """
    action = compiled_rules.merge_actions(rules)
    if not labeled or schema_id is None:
        schema_id = action.schema_id or schema_id
    return MatchedDocument(artifact_id, schema_id, rules, action)


def _iterate_rows(ids: Sequence[UUID], attributes: frozenset[str]) -> Iterator[DocumentRow]:
    size = CHUNK_SIZE_WITH_TEXT if "text" in attributes else CHUNK_SIZE
    for start in range(0, len(ids), size):
        yield from documents.list_rows(ids[start : start + size], attributes)
