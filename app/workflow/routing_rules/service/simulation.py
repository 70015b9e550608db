"""Simulation of routing. It writes nothing, and does not advance round-robin rules."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from app.engines.conditions.attributes import METADATA_PREFIX, DocumentAttributes
from app.engines.conditions.compiled_conditions import count_patterns
from app.engines.conditions.time_limits import EvaluationTimeout, TimeLimit
from app.kit import errors, tenancy
from app.workflow.routing_rules.queries import documents as queries
from app.workflow.routing_rules.queries import records
from app.workflow.routing_rules.service import compiled_rules, limits, routing
from app.workflow.routing_rules.service.assignees import AssigneeChoice
from app.workflow.routing_rules.service.compiled_rules import Rule
from app.workflow.routing_rules.service.limits import PatternTotals
from app.workflow.routing_rules.service.matching import MatchedDocument, build_matched_document
from app.workflow.routing_rules.service.records import validate_action, validate_conditions

T = TypeVar("T")

MAX_EXPLAINED_CONDITIONS = 50_000
"""The maximum number of conditions and rules that one response explains, in about 20 MB."""

_NO_ID = UUID(int=0)
"""A placeholder for the id of a hypothetical document, which has no id."""

_RETRY_SECONDS = 5
_running_organizations: set[UUID] = set()
_running_lock = Lock()


class _Document(NamedTuple):
    """A stored or hypothetical document in a simulation, with the attributes that rules test.

    `position` is the index of the document in the request; for a repeated id, the first index.
    `labeled` is true if the document has tag sets, and `is_routable` if it can be routed now.
    """

    position: int
    id: UUID | None
    name: str | None
    schema_id: UUID | None
    labeled: bool
    is_routable: bool
    attributes: DocumentAttributes


def simulate(
    *,
    artifact_ids: Sequence[UUID] | None = None,
    documents: Sequence[dict[str, Any]] | None = None,
    rules: Sequence[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Simulate `rules`, or by default the saved rules, for each document; return the results.

    The documents are processed in order, as in a real batch: the loads and the round-robin order
    carry over from one document to the next. Raises 400 if a document does not exist, if a rule in
    `rules` is invalid, if more than `MAX_EXPLAINED_CONDITIONS` conditions would be explained, or if
    the rules take too long; 503 if this process is running another simulation of the organization.
    """
    field = "documents" if artifact_ids is None else "artifact_ids"
    with _reserve_slot():
        time_limit = TimeLimit(limits.MAX_SIMULATION_SECONDS)
        simulated_rules = _load_saved_rules() if rules is None else _compile_rules(rules)
        _check_condition_count(simulated_rules, field, len(artifact_ids or documents or ()))
        if artifact_ids is None:
            simulated_documents = _build_hypothetical_documents(documents or ())
        else:
            attributes = compiled_rules.list_attributes(simulated_rules)
            simulated_documents = _load_stored_documents(artifact_ids, attributes)
        rule_set = compiled_rules.RuleSet(simulated_rules)

        def match(document: _Document) -> MatchedDocument:
            seconds = limits.MAX_DOCUMENT_SECONDS
            document.attributes.time_limit = TimeLimit(seconds, within=time_limit)
            return _match_document(document, rule_set)

        matched_documents = _process_each(match, field, simulated_documents)
        _, choices = routing.choose_assignees(matched_documents)
        explain = partial(_build_result, rules=simulated_rules, time_limit=time_limit)
        results = _process_each(explain, field, simulated_documents, matched_documents, choices)
        return {"documents": results}


@contextmanager
def _reserve_slot() -> Iterator[None]:
    """Allow only one simulation of each organization at a time in this process.

    Simulations of one organization therefore cannot occupy all threads. Raises 503 if another
    simulation of the organization is running.
    """
    organization_id = tenancy.current_organization_id()
    with _running_lock:
        if organization_id in _running_organizations:
            raise errors.busy(
                "Another simulation of this organization is running. Try again in a few seconds.",
                retry_after=_RETRY_SECONDS,
            )
        _running_organizations.add(organization_id)
    try:
        yield
    finally:
        with _running_lock:
            _running_organizations.discard(organization_id)


def _check_condition_count(rules: Sequence[Rule], field: str, document_count: int) -> None:
    condition_count = sum(rule.compiled_conditions.size + 1 for rule in rules if rule.enabled)
    if condition_count * document_count > MAX_EXPLAINED_CONDITIONS:
        raise errors.invalid(
            "There are too many documents for this number of conditions. Send fewer documents.",
            field,
            at_most=max(1, MAX_EXPLAINED_CONDITIONS // condition_count),
        )


def _process_each(
    process: Callable[..., T],
    field: str,
    documents: Sequence[_Document],
    *values: Sequence[object],
) -> list[T]:
    """Call `process` for each document, and return the results.

    Each sequence in `values` has one item for each document, which is passed with the document.
    Raises 400 for the document (such as `documents.3`) at which the time limit expired.
    """
    results: list[T] = []
    for index, arguments in enumerate(zip(documents, *values, strict=True)):
        try:
            results.append(process(*arguments))
        except EvaluationTimeout:
            raise errors.invalid(
                "The rules take too long to evaluate. Simplify their patterns, or send fewer"
                " documents.",
                f"{field}.{documents[index].position}",
                at_most=index,
            ) from None
    return results


def _match_document(document: _Document, rule_set: compiled_rules.RuleSet) -> MatchedDocument:
    matches = rule_set.find_matches(document.attributes)
    return build_matched_document(
        document.id or _NO_ID, document.schema_id, matches, labeled=document.labeled
    )


def _load_saved_rules() -> list[Rule]:
    return [compiled_rules.compile_rule(record) for record in records.list_in_order()]


def _compile_rules(rules: Sequence[dict[str, Any]]) -> list[Rule]:
    # Compiling patterns takes time, so they are counted first.
    _check_patterns(PatternTotals(sum(count_patterns(body["conditions"]) for body in rules), 0))
    simulated_rules = []
    for index, body in enumerate(rules):
        path_prefix = f"rules.{index}."
        compiled_conditions = validate_conditions(body["conditions"], path_prefix)
        validate_action(body["action"], path_prefix)
        properties = {name: body[name] for name in ("name", "enabled", "stop")}
        simulated_rules.append(
            Rule(
                id=None,
                position=index + 1,
                compiled_conditions=compiled_conditions,
                **properties,
                **body["action"],
            )
        )
    _check_patterns(limits.sum_patterns(rule.compiled_conditions for rule in simulated_rules))
    return simulated_rules


def _check_patterns(totals: PatternTotals) -> None:
    if totals.error_message is not None:
        raise errors.invalid(totals.error_message, "rules")


def _load_stored_documents(
    artifact_ids: Sequence[UUID], attributes: frozenset[str]
) -> list[_Document]:
    rows = {row.id: row for row in queries.list_rows(artifact_ids, attributes)}
    documents: dict[UUID, _Document] = {}
    for position, artifact_id in enumerate(artifact_ids):
        row = rows.get(artifact_id)
        if row is None:
            raise errors.invalid("Must be the id of a document.", f"artifact_ids.{position}")
        if artifact_id not in documents:
            documents[artifact_id] = _Document(
                position,
                row.id,
                row.name,
                row.schema_id,
                row.labeled,
                row.is_routable,
                DocumentAttributes(row.attributes),
            )
    return list(documents.values())


def _build_hypothetical_documents(documents: Sequence[dict[str, Any]]) -> list[_Document]:
    hypothetical_documents = []
    for position, body in enumerate(documents):
        values = {name: value for name, value in body.items() if name != "metadata"}
        for name in ("connector_id", "schema_id"):
            values[name] = None if body[name] is None else str(body[name])
        values |= {f"{METADATA_PREFIX}{key}": value for key, value in body["metadata"].items()}
        hypothetical_documents.append(
            _Document(
                position,
                None,
                body["name"],
                body["schema_id"],
                labeled=False,
                is_routable=True,
                attributes=DocumentAttributes(values),
            )
        )
    return hypothetical_documents


def _build_result(
    document: _Document,
    matched_document: MatchedDocument,
    choice: AssigneeChoice,
    *,
    rules: Sequence[Rule],
    time_limit: TimeLimit,
) -> dict[str, Any]:
    """Return the result of each rule for a document, and the outcome.

    Raises `EvaluationTimeout` if `time_limit` expires.
    """
    document.attributes.time_limit = time_limit
    explanations, is_stopped = [], False
    for rule in rules:
        skip_reason = "disabled" if not rule.enabled else "stopped" if is_stopped else None
        tree = None if skip_reason else rule.compiled_conditions.explain(document.attributes)
        is_match = tree is not None and tree["matched"]
        is_stopped = is_stopped or (is_match and rule.stop)
        explanations.append(
            {
                "rule_id": rule.id,
                "name": rule.name,
                "position": rule.position,
                "matched": is_match,
                "skipped_because": skip_reason,
                "conditions": tree,
            }
        )
    return {
        "artifact_id": document.id,
        "name": document.name,
        "waiting": document.is_routable,
        "matched": [{"rule_id": rule.id, "name": rule.name} for rule in matched_document.rules],
        "outcome": routing.build_outcome(matched_document, choice),
        "rules": explanations,
    }
