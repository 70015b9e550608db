"""Service of usage: meters, the limits of plans, warnings and history."""

from app.billing.usage.service.limits import merge_limits, open_allowance
from app.billing.usage.service.measuring import measure_period, settle_period

__all__ = ["measure_period", "merge_limits", "open_allowance", "settle_period"]
