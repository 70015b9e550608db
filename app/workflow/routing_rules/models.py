"""Models of routing rules, and of the matches between rules and artifacts."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKeyConstraint, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel, build_foreign_key, build_index

STRATEGIES = ("everyone", "round_robin", "least_loaded", "skills")
DISABLED_REASONS = ("team_deleted", "member_removed", "member_cannot_label", "schema_deleted")
"""The reasons why the service disables a rule."""


class RoutingRule(TenantModel, db.Revised, db.Base):
    """A rule that assigns matching artifacts, or sets their priority, due time or schema.

    An organization's rules have the positions 1 to n. When the team, member or schema of a rule is
    deleted, a foreign key sets the rule's column to null. In the same transaction, a trigger
    disables the rule and sets `disabled_reason`. With the strategy `round_robin`, `cursor_user_id`
    is the id of the last assigned user. If a rule with `stop` matches a document, the following
    rules are not evaluated. The revision is incremented when a rule is edited, moved or disabled,
    but not by a match, a move of another rule or a reordering of all rules.
    """

    __tablename__ = "routing_rules"
    __table_args__ = (
        build_foreign_key("team_id", "teams", ondelete="SET NULL (team_id)"),
        ForeignKeyConstraint(
            ["organization_id", "user_id"],
            ["memberships.organization_id", "memberships.user_id"],
            ondelete="SET NULL (user_id)",
        ),
        build_foreign_key("schema_id", "schemas", ondelete="SET NULL (schema_id)"),
        # Checked at the end of each statement, because moving rules creates temporary duplicates.
        UniqueConstraint(
            "organization_id",
            "position",
            name="uq_routing_rules_position",
            deferrable=True,
            initially="IMMEDIATE",
        ),
        build_index("ix_routing_rules_team", "team_id"),
        build_index("ix_routing_rules_user", "user_id"),
        build_index("ix_routing_rules_schema", "schema_id"),
    )

    name: Mapped[str]
    enabled: Mapped[bool] = mapped_column(default=True)
    disabled_reason: Mapped[str | None]
    position: Mapped[int]
    conditions: Mapped[dict[str, Any]]
    team_id: Mapped[UUID | None]
    user_id: Mapped[UUID | None]
    strategy: Mapped[str | None]
    priority: Mapped[int | None]
    due_in_hours: Mapped[int | None]
    schema_id: Mapped[UUID | None]
    stop: Mapped[bool] = mapped_column(default=True)
    match_count: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    last_matched_at: Mapped[datetime | None]
    cursor_user_id: Mapped[UUID | None]

    @property
    def action(self) -> dict[str, Any]:
        """Return the columns of the rule that the API returns as `action`."""
        return {
            "team_id": self.team_id,
            "user_id": self.user_id,
            "strategy": self.strategy,
            "priority": self.priority,
            "due_in_hours": self.due_in_hours,
            "schema_id": self.schema_id,
        }


class ArtifactRouting(TenantModel, db.Base):
    """The latest match between a rule and an artifact, with the time and outcome of the match.

    `rule_name` is the rule's name at the time of the match. `outcome` contains the values that
    routing set on the artifact. The record is kept after the rule is deleted.
    """

    __tablename__ = "artifact_routings"
    __table_args__ = (build_foreign_key("artifact_id", "artifacts", ondelete="CASCADE"),)

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    rule_id: Mapped[UUID] = mapped_column(primary_key=True)
    rule_name: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=func.now())
    outcome: Mapped[dict[str, Any]]
