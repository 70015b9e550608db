"""Public functions that edit and simulate routing rules, and that route artifacts."""

from app.workflow.routing_rules.queries.records import clear_schema
from app.workflow.routing_rules.service.progress import StoredProgress
from app.workflow.routing_rules.service.records import (
    APPLY_JOB,
    create,
    delete,
    disable_rules_of_ineligible_user,
    get,
    list_rules,
    reorder,
    update,
)
from app.workflow.routing_rules.service.routing import (
    has_rules,
    route_ingested,
    route_unassigned,
    select_matches,
)
from app.workflow.routing_rules.service.simulation import simulate

__all__ = [
    "APPLY_JOB",
    "StoredProgress",
    "clear_schema",
    "create",
    "delete",
    "disable_rules_of_ineligible_user",
    "get",
    "has_rules",
    "list_rules",
    "reorder",
    "route_ingested",
    "route_unassigned",
    "select_matches",
    "simulate",
    "update",
]
