"""Events that scheduled exports emit."""

DELIVERY_FAILED = "scheduled_export.delivery_failed"
"""The event emitted when the file of a run could not be delivered.

The payload has `scheduled_export_id`, `job_id`, `name`, `created_by`, and `error` with `code` and
`message`.
"""
