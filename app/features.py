"""The table of contents: every feature's routes, jobs and models, in the order of the tags."""

from types import ModuleType

from app.identity.auth import models as auth_models
from app.identity.auth import routes as auth
from app.identity.organizations import models as organization_models
from app.identity.organizations import routes as organizations
from app.identity.users import models as user_models
from app.kit import idempotency, schedule
from app.kit.api.blueprint import Blueprint

BLUEPRINTS: list[Blueprint] = [auth.blueprint, organizations.blueprint]

JOBS: list[ModuleType] = []
"""Importing a jobs module declares its handlers."""

MODELS: list[ModuleType] = [
    auth_models,
    organization_models,
    user_models,
    idempotency,
    schedule,
]
