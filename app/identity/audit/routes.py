"""API routes for the audit log."""

from typing import Any

from app.identity.audit import reading
from app.identity.audit.schemas import AuditEntry, AuditFilters
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("audit", tag="organizations")


@blueprint.get(
    "/organizations/{org_slug}/audit-log",
    permission="audit_log:read",
    query=Listing(sort_keys=("-at",), filters=AuditFilters, has_period=True),
    returns=AuditEntry,
)
def list_audit_log(caller: Caller, query: dict[str, Any]) -> Page:
    """List the audit log.

    Each entry says who changed which record, when and from where. The newest entries come first.
    URLs in settings are returned without query strings, which may contain a signature.
    """
    return reading.hide_url_queries_in_page(reading.get_page(query.pop("page"), query))
