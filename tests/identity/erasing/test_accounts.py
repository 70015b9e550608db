"""An account is deleted without reading the tables that grow with the documents."""

from flask import Flask
from sqlalchemy import text

from app.kit import db

_LIST_REFERENCES = text(
    """
    SELECT CAST(CAST(conrelid AS regclass) AS text) AS table_name, attname
    FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
    WHERE contype = 'f' AND confrelid = CAST('users' AS regclass) ORDER BY 1, 2
    """
)
_SMALL_TABLES = {
    "connector_alerts", "connectors", "drift_baselines", "drift_detections", "drift_reports",
    "quality_runs", "scheduled_exports", "scheduled_plan_changes", "schema_versions", "schemas",
    "sso_codes",
}  # fmt: skip
"""Tables with few rows for each organization."""


def test_the_records_of_an_account_are_found_with_indexes(app: Flask) -> None:
    with app.app_context(), db.engine().connect() as connection:
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        connection.execute(text("SET LOCAL plan_cache_mode = force_generic_plan"))
        references = connection.execute(_LIST_REFERENCES).all()
        read = set()
        for table, column in references:
            # The query with which PostgreSQL checks that no record refers to a deleted account.
            query = f"SELECT 1 FROM ONLY {table} WHERE $1 = {column}"
            connection.exec_driver_sql(f"PREPARE find_records (uuid) AS {query}")
            plan = connection.exec_driver_sql("EXPLAIN EXECUTE find_records (NULL)").scalars()
            if "Seq Scan" in " ".join(plan):
                read.add(table)
            connection.exec_driver_sql("DEALLOCATE find_records")
    assert len(references) > len(_SMALL_TABLES)
    assert read == _SMALL_TABLES
