"""Models for single sign-on: configurations, linked identities and sign-ins in progress."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.encryption import build_encryption_info
from app.kit.ids import uuid7
from app.kit.tenancy import TenantModel, build_foreign_key


class Configuration(TenantModel, db.Revised, db.Base):
    """An organization's single sign-on configuration; each organization has at most one.

    `kind` is the protocol, oidc or saml. `settings` contains the protocol's settings, as the
    administrator sent them, but without the client secret. `provider` contains the result of the
    last check of the provider's metadata: `issuer`, `anchor` and `ProviderCheck.provider_data`.
    `client_secret` is encrypted.
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
    client_secret: Mapped[str | None] = mapped_column(info=build_encryption_info())


class ProviderState(TenantModel, db.Base):
    """The keys of a provider, which change without any action by an administrator.

    The keys are not stored in the configuration, because changes to the configuration are audited.
    `fetches` counts requests for keys since `window_at`. The count limits how many requests a
    provider can cause.
    """

    __tablename__ = "sso_provider_states"
    __table_args__ = (
        build_foreign_key("configuration_id", "sso_configurations", ondelete="CASCADE"),
    )

    configuration_id: Mapped[UUID] = mapped_column(primary_key=True)
    keys: Mapped[dict[str, Any]] = mapped_column(default=dict)
    fetched_at: Mapped[datetime | None]
    window_at: Mapped[datetime | None]
    fetches: Mapped[int] = mapped_column(default=0)


class Domain(TenantModel, db.Record, db.Base):
    """An email domain of an organization; `token` in a DNS record proves its ownership.

    `verified_at` is null if the domain is not verified. `missing_since` is set if the domain was
    verified but its DNS record is now missing. `vouched` is true if the operator has confirmed the
    domain without a DNS record.
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
    """A person's identity at a provider, linked to an account, for one organization only.

    `issuer` and `subject` identify the person. `dropped_at` is the time when the organization's
    policy ended the membership; only older releases read it (see
    `organizations.models.RemovedMember`). `anchor` is a digest of the certificates that a SAML
    provider had when the identity was linked or last confirmed; it is empty for OpenID Connect. If
    an owner has confirmed the identity by email, `confirmed_ownership_id` is the `ownership_id`
    that the membership had then.
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


class SingleUseMixin:
    """Mixin for rows that can be used once, by the browser or application that began a sign-in.

    `browser_hash` is a keyed hash that binds the row to the browser's cookie. `challenge` (S256,
    RFC 7636) binds the row to the application that has the code verifier.
    """

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    browser_hash: Mapped[str]
    challenge: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class Flow(TenantModel, SingleUseMixin, db.Base):
    """A sign-in in progress, for which one response from the provider is accepted.

    `state_hash` is a keyed hash of the state that the provider returns. `code_verifier` is the
    encrypted PKCE verifier, which this service sends to the provider. `request_id` is the id of the
    SAML request.
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
    code_verifier: Mapped[str] = mapped_column(info=build_encryption_info())
    request_id: Mapped[str]
    redirect_uri: Mapped[str | None]
    next: Mapped[str | None]


class Code(TenantModel, SingleUseMixin, db.Base):
    """A one-time code for the application; only its keyed hash is stored.

    If the code was emailed, `pending` contains the identity to link and the provider's anchor.
    Exchanging the code first links that identity, unless the provider's issuer or anchor has
    changed. `ownership_id` is copied from the membership when the code is issued. Therefore, a code
    that was issued before the user became an owner cannot open a session as an owner.
    """

    __tablename__ = "sso_codes"
    __table_args__ = (UniqueConstraint("code_hash"), Index("ix_sso_codes_expires_at", "expires_at"))

    code_hash: Mapped[str]
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    pending: Mapped[dict[str, Any] | None]
    ownership_id: Mapped[UUID | None]


class Assertion(TenantModel, db.Base):
    """An accepted SAML assertion, stored until it has expired, so that it is accepted only once."""

    __tablename__ = "sso_assertions"
    __table_args__ = (Index("ix_sso_assertions_expires_at", "expires_at"),)

    assertion_hash: Mapped[str] = mapped_column(primary_key=True)
    expires_at: Mapped[datetime]
