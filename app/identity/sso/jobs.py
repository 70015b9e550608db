"""Jobs that check providers and domains, end former owners' sessions and delete expired rows."""

from app.identity.organizations.emitted_events import MEMBER_REMOVED, MEMBER_ROLE_CHANGED
from app.identity.sso import domains, enforcement, keys, queries
from app.identity.sso.service import PROTOCOLS
from app.kit import db, jobs, tenancy
from app.kit.errors import ApiError
from app.kit.jobs import Job, handler
from app.kit.logging import get_logger
from app.kit.permissions import Role

log = get_logger(__name__)


@handler("sso.upkeep", queue="maintenance", every=3600)
def delete_expired_and_enqueue_checks(job: Job) -> None:
    """Delete expired flows, codes and assertions, and enqueue checks of organizations.

    A check is enqueued for each open organization with a single sign-on configuration.
    """
    with tenancy.across_organizations(reason="checks every organization's provider"):
        queries.delete_expired(job.checkpoint)
        organization_ids = queries.list_configured_organization_ids()
        jobs.enqueue_for_organizations("sso.look", organization_ids)


@handler("sso.look", queue="third_party", max_attempts=1)
def check_organization(job: Job) -> None:
    """Check an organization's DNS records and its provider's metadata, and store the results.

    Ends password sessions in newly verified domains if single sign-on is enforced.
    """
    _check_domains(job)
    _check_provider(job)


@handler("sso.owner_left", queue="default", events=(MEMBER_ROLE_CHANGED, MEMBER_REMOVED))
def end_sessions_of_former_owner(job: Job) -> None:
    """End the sessions of a former owner who signed in with a password.

    While single sign-on is enforced, only owners may sign in with a password. All users in the
    verified domains are checked, not only the member in the event.
    """
    data = job.args["data"]
    configuration = queries.get_configuration()
    if configuration is None or Role.owner.name not in (data.get("from"), data.get("role")):
        return
    verified_domains = [row.domain for row in queries.list_domains() if row.verified_at]
    enforcement.end_password_sessions(configuration, verified_domains)


def _check_domains(job: Job) -> None:
    domains_by_token = domains.get_domains_by_token(queries.list_domains())
    job.checkpoint()
    results = domains.check_domains(domains_by_token)
    configuration = queries.get_configuration(lock=True)
    newly_verified_domains = domains.record_results(queries.list_domains(), results)
    if configuration is not None:
        enforcement.end_password_sessions(configuration, newly_verified_domains)
    job.checkpoint()


def _check_provider(job: Job) -> None:
    """Update the provider's stored endpoints and keys.

    Nothing changes if the provider is unavailable, if its metadata names another issuer, or if the
    configuration has changed in the meantime.
    """
    configuration = queries.get_configuration()
    if configuration is None or not configuration.enabled:
        return
    revision = configuration.revision
    job.checkpoint()
    try:
        check = PROTOCOLS[configuration.kind].check(configuration.settings)
    except ApiError as refusal:
        log.warning("sso.provider_unusable", kind=configuration.kind, reason=refusal.message)
        return
    configuration = queries.get_configuration(lock=True)
    if (
        configuration is None
        or configuration.revision != revision
        or check.issuer != configuration.provider["issuer"]
    ):
        return
    provider = {"issuer": check.issuer, "anchor": check.anchor, **check.provider_data}
    if configuration.provider != provider:
        configuration.provider = provider
    if check.keys:
        keys.store(configuration, check.keys)
    db.session().flush()
