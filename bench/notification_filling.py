"""Create an organization with a user who has many notifications, of which few are unread."""

from datetime import timedelta

from app.kit import db
from bench import filling
from bench.service import Service
from tests.factories import Org, make_org

NOTIFICATIONS = """
INSERT INTO notifications (organization_id, id, user_id, kind, title, body, link, read_at, in_app,
    count, by_mail, created_at, updated_at)
SELECT :org, gen_random_uuid(), :person,
    CASE WHEN i % 1000 = 0 THEN 'export_ready' WHEN i % 2 = 0 THEN 'mention' ELSE 'assignment' END,
    'document-' || i || '.txt was assigned to you', 'Somebody assigned it to you.',
    '/api/v1/artifacts/' || gen_random_uuid(), CASE WHEN i % 500 <> 0 THEN at END, i % 50 <> 7, 1,
    false, at, at
FROM (
    SELECT i, CAST(:start AS timestamptz) + i * (interval '365 days' / CAST(:rows AS float8)) AS at
    FROM generate_series(1, :rows) AS i
) AS row
"""


def fill(service: Service, rows: int) -> Org:
    """Create and return an organization whose user `viewer` has `rows` notifications."""
    org = make_org(service.app)
    values = {
        "org": str(org.id),
        "person": str(org.users["viewer"]),
        "rows": rows,
        "start": db.utc_now().replace(minute=7, second=0, microsecond=0) - timedelta(days=365),
    }
    with filling.disable_triggers(service), filling.open_cursor(service) as cursor:
        cursor.execute(filling.compile_statement(NOTIFICATIONS), values)
    return org
