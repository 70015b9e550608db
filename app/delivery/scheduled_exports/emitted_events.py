"""Events that scheduled exports emit."""

DELIVERY_FAILED = "scheduled_export.delivery_failed"
"""Emitted when the file of a run could not be delivered.

Payload: {scheduled_export_id, job_id, name, error {code, message}, created_by}.
"""
