"""Service functions to manage, test, browse and crawl connectors."""

from app.intake.connectors.queries.records import clear_schema, lock
from app.intake.connectors.service.alerts import acknowledge, list_alerts
from app.intake.connectors.service.crawling import fail_crawl, run_crawl
from app.intake.connectors.service.managing import (
    DELETE_OBJECTS_JOB,
    crawl,
    create,
    delete,
    delete_objects,
    get,
    list_connectors,
    list_types,
    update,
)
from app.intake.connectors.service.probing import browse, test
from app.intake.connectors.service.scheduling import raise_stale_alerts, start_due_crawls

__all__ = [
    "DELETE_OBJECTS_JOB",
    "acknowledge",
    "browse",
    "clear_schema",
    "crawl",
    "create",
    "delete",
    "delete_objects",
    "fail_crawl",
    "get",
    "list_alerts",
    "list_connectors",
    "list_types",
    "lock",
    "raise_stale_alerts",
    "run_crawl",
    "start_due_crawls",
    "test",
    "update",
]
