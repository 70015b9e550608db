"""Services of artifact schemas, and the queries that other features use."""

from app.schemas.artifact_schemas.queries import CurrentVersion, lock_reference

__all__ = ["CurrentVersion", "lock_reference"]
