"""Makers of what tests start from. They use the services, as the API would."""

from tests.factories.orgs import Api, Org, make_org, operator
from tests.factories.work import claim_jobs_of, drain, job_of, make_due, run_jobs_of

__all__ = [
    "Api",
    "Org",
    "claim_jobs_of",
    "drain",
    "job_of",
    "make_due",
    "make_org",
    "operator",
    "run_jobs_of",
]
