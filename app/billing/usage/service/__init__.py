"""Service of usage: meters, the limits of plans, warnings and history."""

from app.billing.usage.service.measuring import measure_period, settle_period

__all__ = ["measure_period", "settle_period"]
