"""Events that drift detection emits."""

REQUESTED = "drift.detection_requested"
"""A detection was requested. Payload: {detection_id}."""

DETECTED = "drift.detected"
"""A drift report was created. Emitted once per report.

Payload: {report_id, schema_id, subject, field, metric, baseline, current, p_value}. Webhooks send
these properties.
"""

FOUND = "drift.found"
"""A detection has created drift reports. Emitted once per such detection.

Payload: {detection_id, schema_name, count, shifts}; `shifts` describes the first shifts as text.
"""
