"""Webhooks: subscriptions, signed deliveries and their retries."""
