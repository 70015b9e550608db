"""Makers of what tests start from. They use the services, as the API would."""

from tests.factories.orgs import Api, Org, make_org, operator
from tests.factories.work import drain

__all__ = ["Api", "Org", "drain", "make_org", "operator"]
