"""Decide which operations are sent to the same organization, and who sends them.

Creating an organization with its seeds takes more CPU time than all requests of an operation.
Therefore operations share an organization, unless one of them deletes records that another needs.
"""

from app.kit.api.declarations import Operation
from tests.contract.seeds import Seeds
from tests.factories import operator
from tests.factories.orgs import Api

_SHARED = {
    "documents": {"artifacts", "connectors", "ingestion-jobs"},
    "tag-sets": {"tag-sets", "exports", "export-formats", "teams", "routing-rules"},
    "reviews": {"review-queue", "quality", "feedback"},
    "schemas": {
        *("schemas", "schema-versions", "schema-templates"),
        *("webhooks", "auth", "users", "notifications"),
    },
    # In this order: settings, plans, and suspending the organization.
    "organizations": {"organizations", "billing", "internal"},
}
"""The first parts of the paths of each group. Any other first part is the name of its own group.

Documents, tag sets and reviews are separate groups, because they change each other's states.
"""
_CONTAINERS = {"delete_schema", "delete_artifact", "delete_team", "remove_member"}
"""Operations that delete a parent record; no two of them use the same parent."""
_CALLERS = {
    *("logout", "revoke_all_sessions", "change_password"),
    *("update_member", "transfer_ownership"),
}
"""Operations that end their caller's sessions or role. Each of them has its own caller."""


def get_group_name(op: Operation) -> str:
    """Return the name of the group of `op`. Each group is sent to one organization."""
    if op.name == "close_organization":
        return op.name
    if op.name in _CONTAINERS:
        return "containers"
    if op.method == "DELETE" or op.name in _CALLERS:
        return "records"
    part = op.path.split("/")[1]
    return next((group for group, parts in _SHARED.items() if part in parts), part)


def get_caller(op: Operation, seeds: Seeds) -> Api:
    """Return a client that may call `op`."""
    if op.access == "control-plane":
        return operator(seeds.org.app)
    if op.access == "public":
        return seeds.org.anonymous()
    if op.name not in _CALLERS:
        return seeds.org.api("owner")
    if op.name not in seeds.org.users:
        seeds.org.add_user(op.name, "owner")
    return seeds.org.api(op.name)
