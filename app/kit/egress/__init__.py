"""The one door to other hosts: nothing the service calls out to may lead inside its network."""

from app.kit.egress.door import Egress
from app.kit.egress.outcome import ErrorKind, Outcome
from app.kit.egress.policy import EgressRefused, Policy

__all__ = ["Egress", "EgressRefused", "ErrorKind", "Outcome", "Policy"]
