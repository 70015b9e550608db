"""Generated over every operation: what an API key may not."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from flask import Flask

from app.kit.api.declarations import Operation
from app.kit.permissions import Role
from tests.contract.conftest import OPERATIONS, build_path, name_operation
from tests.factories import Org, make_org
from tests.factories.errors import check_error
from tests.factories.orgs import Api

SCOPED = [op for op in OPERATIONS if op.in_organization]
FOR_KEYS = [op for op in OPERATIONS if op.allows_api_keys]
FOR_PEOPLE = [op for op in OPERATIONS if op.access == "user" and not op.allows_api_keys]
PROVEN = SCOPED + [op for op in OPERATIONS if op.access == "user"]
MANAGED = {"api_keys:manage", "invitations:manage", "sso:manage", "members:update"}
"""Permissions to let people in or raise them: keys read at most."""
OF_PEOPLE = [
    op
    for op in SCOPED
    if op.method != "GET" and op.permission in MANAGED | {"organizations:transfer"}
]
KEY_ROLES = [role for role in Role if role < Role.owner]


@dataclass
class Keys:
    """An organization's keys: one of each role, one that only reads, one that was revoked."""

    org: Org
    by_role: dict[Role, Api] = field(default_factory=dict)
    read_only: Api = field(init=False)
    revoked: Api = field(init=False)

    def __post_init__(self) -> None:
        self.by_role = {role: self.org.key(role.name) for role in KEY_ROLES}
        self.read_only = self.org.key("admin", read_only=True)
        self.revoked = self.org.key("admin", name="Revoked")
        owner, path = self.org.api("owner"), f"/organizations/{self.org.slug}/api-keys"
        listed = owner.get(path).json["data"]
        (wanted,) = [key["id"] for key in listed if key["name"] == "Revoked"]
        assert owner.delete(f"{path}/{wanted}").status_code == 204


@pytest.fixture(scope="module")
def keys(app: Flask) -> Keys:
    """Shared by all: whoever is refused changes nothing."""
    return Keys(make_org(app))


@pytest.fixture(scope="module")
def org_without_members(app: Flask) -> Org:
    return make_org(app)


def _send(api: Api, op: Operation, slug: str, **kwargs: Any) -> Any:
    if op.body is not None:
        kwargs["json"] = {}
    return api.request(op.method, build_path(op, slug), **kwargs)


@pytest.mark.parametrize("op", SCOPED, ids=name_operation)
def test_a_key_of_every_lower_role_is_refused_with_the_required_role(
    op: Operation, keys: Keys
) -> None:
    least = Role[op.access]
    for role in (role for role in KEY_ROLES if role < least):
        answer = _send(keys.by_role[role], op, keys.org.slug)
        details = {"required": least.name, "actual": role.name}
        check_error(answer, 403, "insufficient_role", details=details)


@pytest.mark.parametrize("op", [op for op in SCOPED if op.method != "GET"], ids=name_operation)
def test_a_key_that_only_reads_is_refused(op: Operation, keys: Keys) -> None:
    answer = _send(keys.read_only, op, keys.org.slug)
    too_low = Role[op.access] > Role.admin
    check_error(answer, 403, "insufficient_role" if too_low else "permission_denied")


@pytest.mark.parametrize("op", [op for op in FOR_KEYS if op.method == "GET"], ids=name_operation)
def test_a_key_that_only_reads_reads(op: Operation, keys: Keys) -> None:
    assert _send(keys.read_only, op, keys.org.slug).status_code in (200, 404, 422)


@pytest.mark.parametrize("op", PROVEN, ids=name_operation)
def test_a_key_of_another_organization_is_refused(
    op: Operation, keys: Keys, org_without_members: Org
) -> None:
    key = keys.by_role[Role.admin]
    answers = [
        _send(key, op, slug, headers={"X-Org-Slug": slug})
        for slug in (org_without_members.slug, "no-such-organization")
    ]
    for answer in answers:
        check_error(answer, 403, "permission_denied")
    assert answers[0].data == answers[1].data


@pytest.mark.parametrize("op", PROVEN, ids=name_operation)
def test_a_revoked_key_is_refused(op: Operation, keys: Keys) -> None:
    answer = _send(keys.revoked, op, keys.org.slug)
    check_error(answer, 401, "invalid_api_key")


@pytest.mark.parametrize("op", FOR_PEOPLE, ids=name_operation)
def test_what_is_about_a_person_is_not_for_keys(op: Operation, keys: Keys) -> None:
    for api in (keys.by_role[Role.admin], keys.read_only):
        answer = _send(api, op, keys.org.slug)
        check_error(answer, 403, "permission_denied")


@pytest.mark.parametrize("op", OF_PEOPLE, ids=name_operation)
def test_a_key_lets_nobody_in_and_raises_nobody(op: Operation, keys: Keys) -> None:
    answer = _send(keys.by_role[Role.admin], op, keys.org.slug)
    too_low = Role[op.access] > Role.admin
    check_error(answer, 403, "insufficient_role" if too_low else "permission_denied")


def test_which_operations_let_people_in_or_raise_them() -> None:
    assert {op.name for op in OF_PEOPLE} == {
        *("configure_sso", "create_invitation", "revoke_invitation"),
        *("update_member", "transfer_ownership", "create_api_key", "revoke_api_key"),
    }


def test_the_control_plane_knows_no_keys(keys: Keys) -> None:
    for op in (op for op in OPERATIONS if op.access == "control-plane"):
        answer = _send(keys.by_role[Role.admin], op, keys.org.slug)
        check_error(answer, 401, "invalid_credentials")


def test_which_operations_depart_from_the_rule() -> None:
    outside = {op.name for op in OPERATIONS if op.access == "user" and op.allows_api_keys}
    catalogues = {"list_schema_templates", "get_schema_template", "list_webhook_events"}
    catalogues.add("list_plans")
    assert outside == {"get_session", "list_organizations", *catalogues}
    not_for_keys = {op.name for op in SCOPED if not op.allows_api_keys}
    assert not_for_keys == {op.name for op in OF_PEOPLE}
