"""Let an organization have its plan since the last month, so that this month can be billed.

Usage: bill_last_month.py SLUG. This is for trials only, because a new service has no month to bill.
DATABASE_URL is the URL of the database. Prints the month as YYYY-MM.
"""

import os
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta

import psycopg2


def main() -> None:
    """Move an organization's creation and plan changes to the last month, and print the month."""
    end = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    start = (end - timedelta(days=1)).replace(day=1)
    values = {"slug": sys.argv[1], "created": start, "changed": start + timedelta(days=9)}
    options = "-c app.all_organizations=on"
    with (
        closing(psycopg2.connect(os.environ["DATABASE_URL"], options=options)) as connection,
        connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(
            "UPDATE organizations SET created_at = %(created)s WHERE slug = %(slug)s", values
        )
        cursor.execute(
            "UPDATE plan_changes SET changed_at = %(changed)s FROM organizations o"
            " WHERE o.id = organization_id AND o.slug = %(slug)s",
            values,
        )
    print(f"{start:%Y-%m}")


if __name__ == "__main__":
    main()
