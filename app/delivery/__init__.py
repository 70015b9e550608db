"""Delivery: exports, webhooks and notifications."""
