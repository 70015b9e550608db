"""Periodic jobs: check providers' metadata and domains' records again, and delete expired rows."""

from app.identity.sso import dns_proof, domains, enforcement, keys, queries
from app.identity.sso.providers import PROVIDERS
from app.kit import db, jobs, tenancy
from app.kit.errors import ApiError
from app.kit.jobs import Job, handler, periodic
from app.kit.logging import get_logger

log = get_logger(__name__)


@handler("sso.upkeep", queue="maintenance")
def upkeep(job: Job) -> None:
    """Delete expired rows, and enqueue a check of every organization that has single sign-on."""
    with tenancy.across_organizations(reason="every organization's providers are looked at"):
        queries.purge(job.checkpoint)
        for organization_id in queries.organizations():
            key = f"sso.look:{organization_id}"
            jobs.enqueue("sso.look", {}, organization_id=organization_id, unique_key=key)


@handler("sso.look", queue="third_party", max_attempts=1)
def look(job: Job) -> None:
    """Check the domains and the provider of one organization."""
    _look_at_domains(job)
    _look_at_provider(job)


def _look_at_domains(job: Job) -> None:
    tokens = {row.domain: row.token for row in queries.domains()}
    job.checkpoint()
    found = dns_proof.look(tokens)
    configuration = queries.configuration(lock=True)
    proven = domains.judge(queries.domains(), found)
    if configuration is not None:
        enforcement.begin(configuration, proven)
    job.checkpoint()


def _look_at_provider(job: Job) -> None:
    """Update the endpoints and keys of the provider.

    Nothing changes if the provider is unavailable or another one has been configured in the
    meantime.
    """
    configuration = queries.configuration()
    if configuration is None or not configuration.enabled:
        return
    seen = configuration.revision
    job.checkpoint()
    try:
        checked = PROVIDERS[configuration.kind].check(configuration.settings)
    except ApiError as refusal:
        log.warning("sso.provider_unusable", kind=configuration.kind, reason=refusal.message)
        return
    current = queries.configuration(lock=True)
    if current is None or current.revision != seen or checked.issuer != current.provider["issuer"]:
        return
    facts = {"issuer": checked.issuer, "anchor": checked.anchor, **checked.facts}
    if current.provider != facts:
        current.provider = facts
    if checked.keys:
        keys.store(current, checked.keys)
    db.session().flush()


periodic("sso.upkeep", every=3600)
