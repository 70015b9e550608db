"""SQL query of the rules that matched an artifact."""

from typing import Any
from uuid import UUID

from sqlalchemy import Select, String, cast, select

from app.workflow.routing_rules.models import ArtifactRouting


def select_matches(artifact_id: UUID) -> Select[*tuple[Any, ...]]:
    """Return a SELECT of the rules that matched a document.

    Columns: at, rule_id, rule_name, assigned, note.
    """
    outcome = ArtifactRouting.outcome
    return select(
        ArtifactRouting.at,
        ArtifactRouting.rule_id,
        ArtifactRouting.rule_name,
        (outcome["assigned_by"].astext == cast(ArtifactRouting.rule_id, String)).label("assigned"),
        outcome["note"].astext.label("note"),
    ).where(ArtifactRouting.artifact_id == artifact_id)
