"""Service for usage: meters, plan limits, warnings and history."""

from app.billing.usage.service.limits import open_allowance
from app.billing.usage.service.measuring import (
    measure_many,
    measure_period,
    settle_many,
)
from app.billing.usage.service.reporting import describe_history, describe_usage

__all__ = [
    "describe_history",
    "describe_usage",
    "measure_many",
    "measure_period",
    "open_allowance",
    "settle_many",
]
