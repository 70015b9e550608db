"""The client for requests to other hosts. It does not connect to internal networks by default."""

from app.kit.egress.client import Egress
from app.kit.egress.network import GuardedNetwork
from app.kit.egress.outcome import ErrorKind, Outcome
from app.kit.egress.policy import EgressRefused, Policy

__all__ = ["Egress", "EgressRefused", "ErrorKind", "GuardedNetwork", "Outcome", "Policy"]
