"""Service for usage: meters, plan limits, warnings and history."""

from app.billing.usage.service.limits import OrganizationLimits, get_limits, open_allowance
from app.billing.usage.service.measuring import (
    measure_many,
    measure_period,
    settle_many,
    settle_period,
)
from app.billing.usage.service.reporting import describe_history, describe_usage

__all__ = [
    "OrganizationLimits",
    "describe_history",
    "describe_usage",
    "get_limits",
    "measure_many",
    "measure_period",
    "open_allowance",
    "settle_many",
    "settle_period",
]
