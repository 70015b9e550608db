"""Names of the events that quality runs emit."""

REQUESTED = "quality_run.requested"
"""A run was requested. Payload: {run_id, schema_id, created_by}."""
COMPLETED = "quality_run.completed"
"""A run has results. Payload: {run_id, schema_id}."""
FAILED = "quality_run.failed"
"""A run has failed. Payload: {run_id, schema_id, error}."""
