"""Events that drift detection emits."""

REQUESTED = "drift.detection_requested"
"""A detection was requested. Data: {detection_id}."""

DETECTED = "drift.detected"
"""A report was created. Emitted once per report.

Data: {report_id, schema_id, subject, field, metric, baseline, current, p_value}, as webhooks send
it.
"""

FOUND = "drift.found"
"""A detection has created reports. Emitted once per detection.

Data: {detection_id, schema_name, count, shifts}; `shifts` describes the first shifts as text.
"""
