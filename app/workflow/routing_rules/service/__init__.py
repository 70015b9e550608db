"""Public functions of routing rules: editing, routing and simulation."""

from app.workflow.routing_rules.service.applying import (
    has_rules,
    matches,
    route_ingested,
    route_waiting,
)
from app.workflow.routing_rules.service.records import (
    create,
    delete,
    disable_of_viewer,
    get,
    list_rules,
    reorder,
    update,
)
from app.workflow.routing_rules.service.simulating import simulate

__all__ = [
    "create",
    "delete",
    "disable_of_viewer",
    "get",
    "has_rules",
    "list_rules",
    "matches",
    "reorder",
    "route_ingested",
    "route_waiting",
    "simulate",
    "update",
]
