"""Insert drift reports without running a drift detection."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from app.insight.drift.models import DriftReport
from app.kit import db
from app.kit.ids import uuid7
from tests.factories.orgs import Org


def insert_drift_reports(org: Org, schema_id: Any, count: int) -> list[str]:
    """Insert `count` open reports, each for a different field, and return their ids."""
    end = db.utc_now()
    start = end - timedelta(days=7)
    period = {
        "start": "2026-01-01T00:00:00Z",
        "end": "2026-01-08T00:00:00Z",
        "n": 100,
        "value": 0.5,
    }
    reports = [
        DriftReport(
            id=uuid7(),
            schema_id=UUID(str(schema_id)),
            detection_id=uuid7(),
            shift_key=f"labeling:empty_rate:field_{number}:",
            subject="labeling",
            field=f"field_{number}",
            metric="empty_rate",
            test="chi_square",
            baseline=period,
            current=period,
            current_from=start,
            current_until=end,
            p_value=0.001,
            q_value=0.002,
            effect=0.2,
            js_distance=0.1,
            confirmed_at=end,
            created_at=end - timedelta(seconds=number),
        )
        for number in range(count)
    ]
    with org.transaction() as session:
        session.add_all(reports)
        session.flush()
        return [str(report.id) for report in reports]
