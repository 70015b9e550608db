"""Models of single sign-on: configurations, linked identities and sign-ins in progress."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.encryption import encrypted
from app.kit.ids import uuid7
from app.kit.tenancy import TenantModel


class Configuration(TenantModel, db.Revised, db.Base):
    """The single sign-on configuration of an organization, which has at most one.

    `kind` is oidc or saml. `settings` contains the settings specific to the kind, as the
    administrator sent them. `provider` contains the result of the last check of the provider's
    metadata: `issuer`, `anchor` and facts specific to the kind. `client_secret` is encrypted.
    """

    __tablename__ = "sso_configurations"
    __table_args__ = (UniqueConstraint("organization_id"),)

    kind: Mapped[str]
    enabled: Mapped[bool] = mapped_column(default=True)
    enforced: Mapped[bool] = mapped_column(default=False)
    default_role: Mapped[str]
    require_group: Mapped[bool] = mapped_column(default=False)
    group_mapping: Mapped[list[Any]] = mapped_column(default=list)
    settings: Mapped[dict[str, Any]]
    provider: Mapped[dict[str, Any]]
    client_secret: Mapped[str | None] = mapped_column(info=encrypted())


class ProviderState(TenantModel, db.Base):
    """The keys of a provider, which change without any action by an administrator.

    They are stored apart from the configuration, which is audited. `fetches` counts requests for
    keys since `window_at`; it limits the number of requests that a provider can cause.
    """

    __tablename__ = "sso_provider_states"
    __table_args__ = (
        ForeignKeyConstraint(
            ["organization_id", "configuration_id"],
            ["sso_configurations.organization_id", "sso_configurations.id"],
            ondelete="CASCADE",
        ),
    )

    configuration_id: Mapped[UUID] = mapped_column(primary_key=True)
    keys: Mapped[dict[str, Any]] = mapped_column(default=dict)
    fetched_at: Mapped[datetime | None]
    window_at: Mapped[datetime | None]
    fetches: Mapped[int] = mapped_column(default=0)


class Domain(TenantModel, db.Record, db.Base):
    """An email domain. Its owner publishes `token` in the DNS to prove the domain.

    `verified_at` is null if the domain is not proven. `missing_since` is set if the domain was
    proven and the record is now missing. `vouched` means that the operator has confirmed the domain
    without a record.
    """

    __tablename__ = "sso_domains"
    __table_args__ = (
        UniqueConstraint("organization_id", "domain"),
        Index(
            "uq_sso_domains_verified",
            "domain",
            unique=True,
            postgresql_where=text("verified_at IS NOT NULL"),
        ),
    )

    domain: Mapped[str]
    token: Mapped[str]
    verified_at: Mapped[datetime | None]
    missing_since: Mapped[datetime | None]
    vouched: Mapped[bool] = mapped_column(default=False)
    problem: Mapped[str | None]


class Identity(TenantModel, db.Record, db.Base):
    """A link between an issuer's subject and an account, for this organization only.

    `dropped_at` is the time when the organization's policy ended the membership. Only instances of
    older releases read it (see `organizations.models.RemovedMember`). `anchor` is the provider's
    anchor when the person was linked (see `ProviderCheck`). `confirmed_ownership_id` is the
    membership's `ownership_id` for which the person confirmed the identity by email. It is null if
    the person never confirmed it as an owner.
    """

    __tablename__ = "sso_identities"
    __table_args__ = (UniqueConstraint("organization_id", "issuer", "subject"),)

    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    issuer: Mapped[str]
    subject: Mapped[str]
    email: Mapped[str]
    anchor: Mapped[str]
    confirmed_ownership_id: Mapped[UUID | None]
    dropped_at: Mapped[datetime | None]


class SingleUse:
    """Mixin of rows that only the browser or application that began the sign-in can use, once.

    `browser_hash` is a keyed hash that binds the row to a browser's cookie, and `challenge` (S256
    of RFC 7636) binds it to an application that has the verifier.
    """

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    browser_hash: Mapped[str]
    challenge: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class Flow(TenantModel, SingleUse, db.Base):
    """A sign-in in progress; the first response uses it up.

    `state_hash` is a keyed hash. `code_verifier` is the encrypted PKCE verifier, which this service
    sends to the provider. `request_id` is the id of a SAML request.
    """

    __tablename__ = "sso_flows"
    __table_args__ = (
        UniqueConstraint("state_hash"),
        Index("ix_sso_flows_expires_at", "expires_at"),
    )

    kind: Mapped[str]
    issuer: Mapped[str]
    state_hash: Mapped[str]
    nonce: Mapped[str]
    code_verifier: Mapped[str] = mapped_column(info=encrypted())
    request_id: Mapped[str]
    redirect_uri: Mapped[str | None]
    next: Mapped[str | None]


class Code(TenantModel, SingleUse, db.Base):
    """A one-time code for the application; only its keyed hash is stored.

    A code with `pending` ({issuer, subject, …, anchor}) was emailed. Exchanging it first links the
    identity in `pending`, unless the provider's issuer or anchor has changed. `ownership_id` is
    copied from the membership when the code is issued. Therefore a code that was issued before the
    user became an owner cannot open a session as an owner.
    """

    __tablename__ = "sso_codes"
    __table_args__ = (
        UniqueConstraint("code_hash"),
        Index("ix_sso_codes_expires_at", "expires_at"),
    )

    code_hash: Mapped[str]
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    pending: Mapped[dict[str, Any] | None]
    ownership_id: Mapped[UUID | None]


class Assertion(TenantModel, db.Base):
    """An accepted SAML assertion, stored until its age alone is a reason to refuse it."""

    __tablename__ = "sso_assertions"
    __table_args__ = (Index("ix_sso_assertions_expires_at", "expires_at"),)

    assertion_hash: Mapped[str] = mapped_column(primary_key=True)
    expires_at: Mapped[datetime]
