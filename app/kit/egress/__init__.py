"""The client for requests to other hosts. By default, it does not connect to internal networks."""

from app.kit.egress.client import Egress
from app.kit.egress.network import ExpiringNetwork, GuardedNetwork
from app.kit.egress.outcome import ErrorKind, RequestOutcome
from app.kit.egress.policy import EgressRefused, Policy

__all__ = [
    "Egress",
    "EgressRefused",
    "ErrorKind",
    "ExpiringNetwork",
    "GuardedNetwork",
    "Policy",
    "RequestOutcome",
]
