"""Service that creates, reads, updates, closes and reopens organizations."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from app.identity.organizations import emitted_events, ports, queries, slugs
from app.identity.organizations import settings as organization_settings
from app.identity.organizations.models import Membership, Organization
from app.identity.organizations.queries import OrganizationDetails, OrganizationRole
from app.kit import container, db, errors, events, plan_limits, tenancy
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role
from app.kit.plan_limits import Meter
from app.kit.principal import Caller

allows_self_review = organization_settings.allows_self_review
get_claim_minutes = organization_settings.get_claim_minutes
get_draft_hours = organization_settings.get_draft_hours
_MAX_SLUG_ATTEMPTS = 8
DEFAULT_TIME_ZONE: str = organization_settings.DEFAULTS["time_zone"]
"""The time zone of organizations that have not set a time zone."""
MIN_GRACE_PERIOD = timedelta(hours=1)
"""The minimum time between closing and erasure, so that running requests and jobs can finish."""


def list_for_user(
    user_id: UUID, *, only_organization_id: UUID | None = None
) -> list[OrganizationRole]:
    """Return the slug, name and role for each open organization of a user, sorted by name.

    If `only_organization_id` is not None, other organizations are omitted.
    """
    with tenancy.across_organizations(reason="a user's memberships span organizations"):
        return queries.list_for_user(user_id, only_organization_id=only_organization_id)


def list_for_caller(caller: Caller, page: PageRequest, **period: datetime | None) -> Page:
    """Return a page of the caller's organizations, with the caller's role in each.

    For an API key, the page contains only the key's organization, with the key's role. For a
    session that is limited to one organization, it contains only that organization.
    """
    if caller.api_key_id is not None:
        assert caller.role is not None
        details_page = queries.get_page_for_api_key(caller.org.id, caller.role.name, page, **period)
    else:
        with tenancy.across_organizations(reason="a user's memberships span organizations"):
            details_page = queries.get_page_for_user(
                caller.user_id, page, only_organization_id=caller.only_organization_id, **period
            )
    return replace(details_page, items=list(map(_render_settings, details_page.items)))


def list_for_key(caller: Caller) -> list[OrganizationRole]:
    """Return a list with only the API key's organization: its slug and name, and the key's role."""
    assert caller.role is not None
    name = queries.get_name(caller.org.id)
    return [OrganizationRole(caller.org.slug, name, caller.role.name)]


def get(caller: Caller) -> OrganizationDetails:
    """Return the organization that the request names, with its settings and the caller's role."""
    assert caller.role is not None
    return render(db.session().get_one(Organization, caller.org.id), role=caller.role)


def render(organization: Organization, *, role: Role) -> OrganizationDetails:
    """Render an organization in the API's format, with all settings, for a member with `role`."""
    names = [name for name in OrganizationDetails._fields if name != "role"]
    values = {name: getattr(organization, name) for name in names}
    return _render_settings(OrganizationDetails(**values, role=role.name))


def _render_settings(details: OrganizationDetails) -> OrganizationDetails:
    """Return the details with all settings in the API's format, without the AI provider's key."""
    settings = organization_settings.render(details.settings, details.ai_provider_key)
    return details._replace(settings=settings, ai_provider_key=None)


def list_ids_with_retention() -> list[UUID]:
    """Return the ids of the open organizations that have a retention period."""
    return [organization_id for organization_id, _ in queries.list_retention_days()]


def get_time_zone(organization_id: UUID) -> str:
    """Return the time zone in an organization's settings, or the default time zone."""
    return queries.get_time_zone(organization_id) or DEFAULT_TIME_ZONE


def get_retention_days(organization_id: UUID) -> int | None:
    """Return the number of days for which an organization keeps its documents.

    Returns None if the organization keeps documents forever, or if it is closed.
    """
    rows = queries.list_retention_days(organization_id)
    return rows[0][1] if rows else None


def create(
    *,
    name: str,
    slug: str | None = None,
    owner_id: UUID,
    settings: dict[str, Any] | None = None,
    plan: str | None = None,
) -> Organization:
    """Create an organization and its owner's membership, and flush them; the caller commits.

    If `slug` is None, a slug is generated from the name. If `plan` is None, the organization gets
    the operator's default plan. `settings` contains settings in the API's format. Raises 400
    `validation_error` on an invalid slug or setting, 409 `conflict` if the slug is, or ever was, in
    use, and the errors of `settings.check_provider_address`.
    """
    organization_settings.check_provider_address(settings or {}, owner_id)
    stored_settings, provider_key = organization_settings.merge({}, None, settings or {})
    values = {
        "name": name,
        "settings": stored_settings,
        "ai_provider_key": provider_key,
        "plan": plan or container.settings().default_plan,
    }
    if slug is None:
        organization = _insert_with_generated_slug(name, values)
    else:
        organization = _insert_with_slug(slug, values)
    with tenancy.organization(organization.id):
        db.session().add(Membership(user_id=owner_id, role="owner"))
        db.session().flush()
    return organization


def join(user_id: UUID, *, role: str, invitation_id: UUID | None) -> bool:
    """Make a user a member of the current organization, and emit `member.joined`.

    Also deletes the record of an earlier removal. Returns false and changes nothing if the user is
    already a member, even if a concurrent transaction has created the membership. Raises 402
    `plan_limit_reached`; the caller must then roll back.
    """
    is_new_member = queries.insert_membership(user_id, role)
    if is_new_member:
        plan_limits.check_added(Meter.MEMBERS)
        queries.delete_removed_member(user_id)
        payload: emitted_events.MemberJoinedPayload = {
            "user_id": user_id,
            "role": role,
            "invitation_id": invitation_id,
        }
        events.emit(emitted_events.MEMBER_JOINED, payload)
    return is_new_member


def _insert_with_slug(slug: str, values: dict[str, Any]) -> Organization:
    if not slugs.is_slug(slug):
        message = "Must have 3 to 63 characters: a-z, 0-9, and single hyphens between them."
        raise errors.invalid(message, "slug")
    if slug in slugs.RESERVED:
        raise errors.invalid("This slug is reserved. Choose another one.", "slug")
    organization = queries.insert_organization(slug, values)
    if organization is None:
        raise errors.ApiError("conflict", "This slug is taken. Choose another one.", field="slug")
    return organization


def _insert_with_generated_slug(name: str, values: dict[str, Any]) -> Organization:
    slug = slugs.build_slug(name)
    organization = queries.insert_organization(slug, values) if slug else None
    attempts = 0
    while organization is None:
        assert attempts < _MAX_SLUG_ATTEMPTS, "every generated slug is taken"
        attempts += 1
        organization = queries.insert_organization(slugs.build_slug_with_suffix(name), values)
    return organization


def update(
    caller: Caller,
    *,
    revision: int | None,
    name: str | None = None,
    settings: dict[str, Any] | None = None,
) -> OrganizationDetails:
    """Update the name and settings of the caller's organization; omitted settings do not change.

    Emits `organization.self_review_disallowed` if self-review is no longer allowed. Raises 409
    `stale_precondition`, and the errors of `settings.check_provider_address` and `settings.merge`.
    """
    assert caller.role is not None
    if settings:
        organization_settings.check_provider_address(settings, caller.org.id)
    record = lock(caller.org.id, revision)
    if name is not None:
        record.name = name
    if settings:
        was_self_review_allowed = allows_self_review(record.settings)
        record.settings, record.ai_provider_key = organization_settings.merge(
            record.settings, record.ai_provider_key, settings
        )
        if was_self_review_allowed and not allows_self_review(record.settings):
            payload = emitted_events.OrganizationPayload(organization_id=record.id)
            events.emit(emitted_events.SELF_REVIEW_DISALLOWED, payload)
    db.session().flush()
    return render(record, role=caller.role)


def close(caller: Caller, *, slug: str, revision: int | None) -> OrganizationDetails:
    """Close the caller's organization, and return it. Its data is erased after the grace period.

    Emits `organization.closed`. Raises 400 if `slug` is not the organization's slug, and 409 if the
    organization is already closed or `revision` is outdated.
    """
    assert caller.role is not None
    if slug != caller.org.slug:
        raise errors.invalid("Must be the slug of the organization to close.", "slug")
    record = lock(caller.org.id, revision)
    close_locked_organization(record)
    return render(record, role=caller.role)


def close_locked_organization(record: Organization) -> None:
    """Close the current organization, whose row the caller has locked.

    Emits `organization.closed`. Raises 409 if the organization is already closed.
    """
    if record.closed_at is not None:
        raise errors.conflict("The organization is already closed.", state=record.status)
    record.status = "closed"
    record.closed_at = db.utc_now()
    grace_period = timedelta(days=container.settings().erase_after_days)
    record.erase_after = record.closed_at + max(grace_period, MIN_GRACE_PERIOD)
    payload = emitted_events.ClosedPayload(
        organization_id=record.id, erase_after=record.erase_after
    )
    events.emit(emitted_events.CLOSED, payload)


def reopen_locked_organization(record: Organization) -> None:
    """Reopen the current organization, whose row the caller has locked.

    The time since the closing is not billed. An organization that was suspended when it was closed
    is suspended again. Emits `organization.reopened`. Raises 409 if the organization is not closed
    or its erasure has begun.
    """
    state = record.status if record.erasure is None else "erased"
    if state != "closed" or record.closed_at is None:
        raise errors.conflict("The organization is not closed, or is being erased.", state=state)
    ports.billing.get().record_closed_time(record.plan, record.closed_at)
    record.status = "active" if record.suspended_at is None else "suspended"
    record.closed_at = record.erase_after = None
    payload = emitted_events.OrganizationPayload(organization_id=record.id)
    events.emit(emitted_events.REOPENED, payload)


def lock(organization_id: UUID, revision: int | None = None) -> Organization:
    """Lock and return an organization. Raises 409 if `revision` is not None and outdated."""
    record = queries.lock(organization_id)
    errors.check_revision(revision, record.revision)
    return record


def change_plan(record: Organization, *, plan: str, limits: dict[str, int | None]) -> None:
    """Replace the plan and limits of the current organization, which must be locked.

    A limit of None means no limit. If anything changes, cancels the scheduled plan change and emits
    `organization.plan_changed`.
    """
    if (record.plan, record.plan_limits) == (plan, limits):
        return
    payload = emitted_events.PlanChangedPayload(plan=plan, limits=limits, plan_before=record.plan)
    record.plan, record.plan_limits = plan, limits
    ports.billing.get().cancel_scheduled_change()
    events.emit(emitted_events.PLAN_CHANGED, payload)


def lock_role(caller: Caller) -> Role:
    """Lock the caller's membership in share mode until the transaction ends; return the role.

    If the role has changed since the caller was authenticated, returns the lower of the two roles.
    For an API key, returns the key's role and locks nothing. Raises 403 `permission_denied` if the
    user is no longer a member.
    """
    assert caller.role is not None
    if caller.api_key_id is not None:
        return caller.role
    role = queries.lock_role(caller.user_id)
    if role is None:
        raise errors.denied("You are not a member of this organization.")
    return min(Role[role], caller.role)


def lock_self_review(caller: Caller) -> bool:
    """Return whether the organization allows self-review; if it does, lock the organization.

    The lock is in share mode and is held until the transaction ends, so that self-review stays
    allowed. Call this function before locking members.
    """
    return allows_self_review(caller.org.settings) and allows_self_review(
        queries.lock_settings(caller.org.id)
    )
