"""Factories of test data. They send API requests, call services, or insert rows directly."""

from tests.factories.orgs import Api, Org, make_org, operator
from tests.factories.work import claim_jobs_of, drain, make_due, make_job, run_jobs_of

__all__ = [
    "Api",
    "Org",
    "claim_jobs_of",
    "drain",
    "make_due",
    "make_job",
    "make_org",
    "operator",
    "run_jobs_of",
]
