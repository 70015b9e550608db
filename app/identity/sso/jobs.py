"""Periodic jobs that recheck providers' metadata and DNS records, and delete expired rows."""

from app.identity.sso import domains, enforcement, keys, queries
from app.identity.sso.providers import PROVIDERS
from app.kit import db, jobs, tenancy
from app.kit.errors import ApiError
from app.kit.jobs import Job, handler, periodic
from app.kit.logging import get_logger

log = get_logger(__name__)


@handler("sso.upkeep", queue="maintenance")
def start_checks(job: Job) -> None:
    """Delete expired rows, and enqueue a check of every organization that has single sign-on."""
    with tenancy.across_organizations(reason="checks every organization's provider"):
        queries.delete_expired(job.checkpoint)
        for organization_id in queries.list_organization_ids():
            key = f"sso.look:{organization_id}"
            jobs.enqueue("sso.look", {}, organization_id=organization_id, unique_key=key)


@handler("sso.look", queue="third_party", max_attempts=1)
def check_organization(job: Job) -> None:
    """Check the domains and the provider of one organization."""
    _check_domains(job)
    _check_provider(job)


def _check_domains(job: Job) -> None:
    tokens = {row.domain: row.token for row in queries.list_domains()}
    job.checkpoint()
    proofs = domains.check_domains(tokens)
    configuration = queries.get_configuration(lock=True)
    proven = domains.record_proofs(queries.list_domains(), proofs)
    if configuration is not None:
        enforcement.end_password_sessions(configuration, proven)
    job.checkpoint()


def _check_provider(job: Job) -> None:
    """Update the endpoints and keys of the provider.

    Nothing changes if the provider is unavailable, or if the configuration has changed in the
    meantime.
    """
    configuration = queries.get_configuration()
    if configuration is None or not configuration.enabled:
        return
    revision = configuration.revision
    job.checkpoint()
    try:
        check = PROVIDERS[configuration.kind].check(configuration.settings)
    except ApiError as refusal:
        log.warning("sso.provider_unusable", kind=configuration.kind, reason=refusal.message)
        return
    current = queries.get_configuration(lock=True)
    if (
        current is None
        or current.revision != revision
        or check.issuer != current.provider["issuer"]
    ):
        return
    facts = {"issuer": check.issuer, "anchor": check.anchor, **check.facts}
    if current.provider != facts:
        current.provider = facts
    if check.keys:
        keys.store(current, check.keys)
    db.session().flush()


periodic("sso.upkeep", every=3600)
