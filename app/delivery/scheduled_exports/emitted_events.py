"""Events that scheduled exports emit."""

DELIVERY_FAILED = "scheduled_export.delivery_failed"
"""The file of a run could not be delivered.

Data: {scheduled_export_id, job_id, name, error {code, message}, created_by}.
"""
