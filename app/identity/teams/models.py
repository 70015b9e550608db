"""Models for teams, which form a tree, and for team members."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKeyConstraint, Index, String, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db, db_errors
from app.kit.tenancy import TenantModel, build_foreign_key

MAX_DEPTH = 12
"""The maximum number of levels in an organization's tree of teams."""


class Team(TenantModel, db.Revised, db.Base):
    """A team in the organization's tree of teams.

    `skills` contains the skills in their stored form, and `skill_keys` contains their comparison
    keys (see `teams.skills`). A foreign key ensures that the lead is a member of the team. A
    trigger on `team_members` maintains `member_count`, so the count is correct regardless of how a
    member leaves. `revision` changes when a writable field is edited, but not when a member is
    added or removed.
    """

    __tablename__ = "teams"
    __table_args__ = (
        build_foreign_key(
            "parent_id",
            "teams",
            # Deferrable because a team is deleted before its children move up: a child may have the
            # same name as the deleted team.
            deferrable=True,
            initially="IMMEDIATE",
        ),
        ForeignKeyConstraint(
            ["organization_id", "id", "lead_id"],
            ["team_members.organization_id", "team_members.team_id", "team_members.user_id"],
            name="fk_teams_lead",
            ondelete="SET NULL (lead_id)",
            use_alter=True,
        ),
        Index("ix_teams_name", "organization_id", "name", "id"),
        Index("ix_teams_created", "organization_id", "created_at", "id"),
        Index(
            "uq_teams_siblings",
            "organization_id",
            "parent_id",
            text("lower(name)"),
            unique=True,
            postgresql_nulls_not_distinct=True,
        ),
    )

    name: Mapped[str]
    parent_id: Mapped[UUID | None]
    lead_id: Mapped[UUID | None]
    skills: Mapped[list[Any]] = mapped_column(default=list)
    skill_keys: Mapped[list[str]] = mapped_column(ARRAY(String()), default=list)
    description: Mapped[str] = mapped_column(default="")
    member_count: Mapped[int] = mapped_column(default=0, server_default="0")


class TeamMember(TenantModel, db.Base):
    """A user's membership in a team; it is deleted when the user leaves the organization."""

    __tablename__ = "team_members"
    __table_args__ = (
        build_foreign_key("team_id", "teams", ondelete="CASCADE"),
        ForeignKeyConstraint(
            ["organization_id", "user_id"],
            ["memberships.organization_id", "memberships.user_id"],
            ondelete="CASCADE",
        ),
        Index("ix_team_members_user", "organization_id", "user_id", "team_id"),
    )

    team_id: Mapped[UUID] = mapped_column(primary_key=True)
    user_id: Mapped[UUID] = mapped_column(primary_key=True)
    created_at: Mapped[datetime] = mapped_column(default=db.utc_now)


db_errors.register(
    "uq_teams_siblings", "A team with this name already exists under the same parent.", "name"
)
