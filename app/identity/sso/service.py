"""Service that configures single sign-on, starts sign-ins, and exchanges codes for sessions."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from app.identity.auth import service as auth
from app.identity.auth.responses import LoginResponse
from app.identity.auth.service import Client
from app.identity.organizations import service as organizations
from app.identity.sso import (
    accounts,
    domains,
    enforcement,
    flows,
    keys,
    links,
    oidc,
    queries,
    saml_provider,
    sign_in,
)
from app.identity.sso.models import Code, Configuration, Domain
from app.identity.sso.providers import (
    ConfigurationDetails,
    NewFlow,
    ProviderCheck,
    SignOnProtocol,
    StartedSignIn,
)
from app.identity.teams import service as teams
from app.identity.users.models import User
from app.kit import audit, container, db, errors, outbound_slots, tenancy
from app.kit.errors import ApiError
from app.kit.permissions import PERMISSIONS, require_role
from app.kit.principal import Caller

PROTOCOLS: Mapping[str, SignOnProtocol] = {"oidc": oidc, "saml": saml_provider}


def get(slug: str) -> ConfigurationDetails:
    """Return the current organization's single sign-on configuration. Raises 404 if none exists."""
    return _describe(errors.require_found(queries.get_configuration()), slug)


def _describe(configuration: Configuration, slug: str) -> ConfigurationDetails:
    rows = queries.list_domains()
    provider_settings = PROTOCOLS[configuration.kind].describe(configuration, slug)
    return ConfigurationDetails(
        **{name: getattr(configuration, name) for name in ConfigurationDetails._fields[:-4]},
        email_domains=[row.domain for row in rows],
        domains=[domains.describe(row) for row in rows],
        oidc=provider_settings if configuration.kind == "oidc" else None,
        saml=provider_settings if configuration.kind == "saml" else None,
    )


def configure(
    *,
    caller: Caller,
    revision: int | None,
    kind: str,
    email_domains: Sequence[str],
    group_mapping: Sequence[dict[str, Any]],
    oidc: dict[str, Any] | None,
    saml: dict[str, Any] | None,
    **options: bool | str,
) -> ConfigurationDetails:
    """Create or replace the current organization's single sign-on configuration.

    `options` contains `enabled`, `enforced`, `default_role` and `require_group`. Commits before the
    provider and the DNS records are checked. Ends password sessions that are no longer allowed.
    Raises 400 if a field is invalid, 409 `stale_precondition` if `revision` is outdated, 403 if the
    caller has lost the permission, and 503 if too many requests to providers are waiting.
    """
    settings = _select_settings(kind, {"oidc": oidc, "saml": saml})
    domain_names = [domains.parse(d, f"email_domains.{i}") for i, d in enumerate(email_domains)]
    mapping = _validate_mapping(group_mapping)
    db.checkpoint()
    check = PROTOCOLS[kind].check(settings)
    configuration = _lock_configuration(caller, revision)
    was_enforced = configuration and configuration.enforced and configuration.enabled
    values: dict[str, Any] = {
        **options,
        "kind": kind,
        "group_mapping": mapping,
        "settings": settings,
        "provider": {"issuer": check.issuer, "anchor": check.anchor, **check.provider_data},
        "client_secret": _pop_client_secret(configuration, kind, settings),
    }
    configuration = _save_configuration(configuration, values, check)
    rows = domains.replace_domains(domain_names)
    if values["enforced"] and values["enabled"] and not was_enforced:
        verified_domains = [row.domain for row in rows if row.verified_at]
        enforcement.end_password_sessions(configuration, verified_domains)
    _check_domains(configuration, rows)
    return _describe(configuration, caller.org.slug)


def _check_domains(configuration: Configuration, rows: Sequence[Domain]) -> None:
    """Commit, check the domains' DNS records, store the results, and end password sessions.

    Password sessions end only in newly verified domains, and only if single sign-on is enforced. If
    too many requests are waiting, the domains are not checked until the hourly job runs.
    """
    # Commit, so that no transaction is open while the DNS is queried.
    db.checkpoint()
    domains_by_token = domains.get_domains_by_token(rows)
    try:
        with outbound_slots.hold_slot():
            results = domains.check_domains(domains_by_token, timeout=domains.REQUEST_TIMEOUT)
    except ApiError:
        return
    newly_verified_domains = domains.record_results(queries.list_domains(), results)
    enforcement.end_password_sessions(configuration, newly_verified_domains)


def _select_settings(
    protocol: str, settings_by_protocol: dict[str, dict[str, Any] | None]
) -> dict[str, Any]:
    """Select and validate the settings for `protocol`, which is `oidc` or `saml`.

    Raises 400 if the settings are missing or invalid, or if another protocol has settings.
    """
    for name, settings in settings_by_protocol.items():
        if settings is None and name == protocol:
            raise errors.invalid(f"These settings are required if `kind` is {protocol}.", name)
        if settings is not None and name != protocol:
            raise errors.invalid(f"These settings are not allowed if `kind` is {protocol}.", name)
    selected_settings = settings_by_protocol[protocol]
    assert selected_settings is not None
    if "scopes" in selected_settings and "openid" not in selected_settings["scopes"]:
        raise errors.invalid("The scope `openid` is required.", "oidc.scopes")
    return selected_settings


def _validate_mapping(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Validate the entries of the group mapping, and return them in their stored form.

    Locks the teams. Raises 400 for an entry with neither a role nor a team or with an unknown team.
    """
    existing_team_ids = teams.lock_existing_teams(e["team_id"] for e in entries if e["team_id"])
    for position, entry in enumerate(entries):
        field = f"group_mapping.{position}"
        if entry["role"] is None and entry["team_id"] is None:
            raise errors.invalid("An entry needs a role, a team or both.", field)
        if entry["team_id"] is not None and entry["team_id"] not in existing_team_ids:
            raise errors.invalid("This team does not exist.", f"{field}.team_id")
    return [{**e, "team_id": str(e["team_id"]) if e["team_id"] else None} for e in entries]


def _lock_configuration(caller: Caller, revision: int | None) -> Configuration | None:
    configuration = queries.get_configuration(lock=True)
    # Sign-ins also lock the configuration before the membership.
    require_role(organizations.lock_role(caller), PERMISSIONS["sso:manage"])
    current_revision = configuration.revision if configuration is not None else 0
    errors.check_revision(revision, current_revision)
    return configuration


def _pop_client_secret(
    configuration: Configuration | None, kind: str, settings: dict[str, Any]
) -> str | None:
    """Remove the client secret from `settings`, and return the encrypted secret to store.

    Returns None if `client_secret` is null. If `client_secret` is omitted, returns the stored
    secret, or None if the protocol, the issuer or the client id changes.
    """
    if "client_secret" in settings:
        secret = settings.pop("client_secret")
        return container.keyring().encrypt(secret) if secret is not None else None
    if configuration is None or configuration.kind != kind or kind != "oidc":
        return None
    is_same_client = all(configuration.settings[n] == settings[n] for n in ("issuer", "client_id"))
    return configuration.client_secret if is_same_client else None


def _save_configuration(
    configuration: Configuration | None, values: dict[str, Any], check: ProviderCheck
) -> Configuration:
    if configuration is None:
        configuration = Configuration(**values)
        db.session().add(configuration)
    for name, value in values.items():
        if getattr(configuration, name) != value:
            setattr(configuration, name, value)
    db.session().flush()
    keys.store(configuration, check.keys)
    return configuration


def start(
    *,
    email: str | None = None,
    org_slug: str | None = None,
    redirect_uri: str | None,
    next: str | None,  # noqa: A002 - the field's name
    code_challenge: str | None,
    browser_secret: str,
) -> StartedSignIn:
    """Start a sign-in with the protocol of the organization, `oidc` or `saml`.

    The domain of `email`, or `org_slug`, selects the organization, so the response reveals nothing
    about accounts. An OpenID Connect provider gets the whole address as `login_hint`. Raises 400
    for an invalid field, and 404 if single sign-on is not available.
    """
    if (email is None) == (org_slug is None):
        raise errors.invalid("Send either `email` or `org_slug`.", "email")
    if code_challenge is not None and not flows.is_s256_challenge(code_challenge):
        raise errors.invalid("Must be an S256 challenge of 43 characters.", "code_challenge")
    links.check_redirect_uri(redirect_uri)
    with tenancy.across_organizations(reason="finds the organization to sign in to"):
        if email is not None:
            pair = queries.find_by_domain(accounts.parse_domain(email))
        else:
            pair = queries.find_by_slug(org_slug or "")
    organization, configuration = errors.require_found(pair)
    with tenancy.organization(organization.id):
        new_flow: NewFlow = flows.begin(
            configuration,
            browser_secret=browser_secret,
            challenge=code_challenge,
            redirect_uri=redirect_uri,
            next_=next,
            hint=email,
        )
    provider = PROTOCOLS[configuration.kind]
    url = provider.build_authorization_url(configuration, organization.slug, new_flow)
    return StartedSignIn(url, configuration.kind, int(flows.FLOW_LIFETIME.total_seconds()))


def exchange(
    *, code: str, code_verifier: str | None, browser_secret: str | None, client: Client
) -> LoginResponse:
    """Exchange a one-time code for the login response; a code can be used only once.

    Raises 401 `invalid_credentials` if the code is not valid or was issued to another browser or
    application, 403 if the person may no longer sign in, and 402 if the plan allows no new member.
    """
    row = flows.redeem_code(code, browser_secret=browser_secret, verifier=code_verifier)
    # The code stays used even if the exchange fails.
    db.checkpoint()
    if row is None:
        raise ApiError(
            "invalid_credentials",
            "The code is unknown, used, expired, or was issued to another browser or application.",
        )
    with tenancy.organization(row.organization_id):
        configuration, user, organization_id = _check_access(row)
        return auth.open_session(
            user, client, organization_id=organization_id, method=configuration.kind
        )


def _check_access(row: Code) -> tuple[Configuration, User, UUID | None]:
    """Check that a code's user may still sign in, and link the identity that the code confirms.

    Returns the configuration, the user, and the organization id that limits the session, or None.
    """
    pair = queries.get_available_configuration(row.organization_id, lock=True)
    user = accounts.lock(row.user_id)
    if pair is None or user.disabled_at is not None:
        raise errors.denied("Single sign-on is no longer available to you.")
    organization, configuration = pair
    membership = queries.lock_membership(user.id)
    if membership is not None and membership.ownership_id != row.ownership_id:
        raise errors.denied("Your role changed after this sign-in began. Sign in again.")
    if row.pending is not None:
        audit.set_actor("user", user.id, user.email)
        sign_in.confirm(organization, configuration, user, membership, row.pending)
    if queries.lock_membership(user.id) is None:
        raise errors.denied("You are not a member of this organization.")
    return configuration, user, sign_in.get_session_scope(configuration, user)


def verify_domain(domain: str, *, vouch: bool = False) -> bool:
    """Verify a domain by its DNS record, and return whether the domain is verified.

    If `vouch` is true, accepts the domain without a DNS record; otherwise, commits before the DNS
    lookup. If single sign-on is enforced, ends password sessions in a newly verified domain. Raises
    400 if the domain is invalid, and 404 if the current organization does not list the domain or
    has no configuration.
    """
    name = domains.parse(domain, "domain")
    row = next((row for row in queries.list_domains() if row.domain == name), None)
    configuration = queries.get_configuration(lock=True)
    if row is None or configuration is None:
        raise errors.not_found()
    was_verified = row.verified_at is not None
    if vouch:
        row.vouched = domains.mark_verified(row)
    else:
        db.checkpoint()
        results = domains.check_domains(domains.get_domains_by_token([row]))
        domains.record_results([row], results)
    # Flush now: when the caller commits, there is no current organization anymore.
    db.session().flush()
    if row.verified_at is not None and not was_verified:
        enforcement.end_password_sessions(configuration, [row.domain])
    return row.verified_at is not None
