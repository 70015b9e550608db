"""Registry of routes, pages and webhook requests. Workers do not import this module.

The order of the blueprints is the order of the tags in the API description.
"""

from flask import Blueprint as FlaskBlueprint

from app.billing.invoices import routes as invoices
from app.billing.periods import routes as billing_periods
from app.billing.plan_changes import routes as plan_changes
from app.billing.plans import routes as plans
from app.billing.profiles import routes as billing_profiles
from app.billing.usage import routes as usage
from app.delivery.export_formats import routes as export_formats
from app.delivery.exports import routes as exports
from app.delivery.notifications import routes as notifications
from app.delivery.scheduled_exports import routes as scheduled_exports
from app.delivery.webhooks import catalog as webhook_catalog
from app.delivery.webhooks import routes as webhooks
from app.documents.artifacts import routes as artifacts
from app.identity.api_keys import routes as api_keys
from app.identity.audit import routes as audit
from app.identity.auth import routes as auth
from app.identity.control_plane import routes as control_plane
from app.identity.invitations import routes as invitations
from app.identity.members import routes as members
from app.identity.organizations import routes as organizations
from app.identity.pages import routes as pages
from app.identity.sso import routes as sso
from app.identity.teams import routes as teams
from app.identity.users import routes as users
from app.insight.drift import routes as drift
from app.insight.feedback import routes as feedback
from app.insight.history import routes as history
from app.insight.quality import routes as quality
from app.insight.quality_runs import routes as quality_runs
from app.insight.schema_statistics import routes as schema_statistics
from app.insight.workload import routes as workload
from app.intake.bulk_import import routes as bulk_import
from app.intake.connectors import routes as connectors
from app.intake.extraction_jobs import routes as extraction_jobs
from app.intake.ingestion_jobs import routes as ingestion_jobs
from app.kit.api.blueprint import Blueprint
from app.schemas.artifact_schemas import routes as schemas
from app.schemas.schema_imports import routes as schema_imports
from app.schemas.templates import routes as templates
from app.workflow.assignment import routes as assignment
from app.workflow.comments import routes as comments
from app.workflow.predictions import routes as predictions
from app.workflow.review_queue import routes as review_queue
from app.workflow.routing_rules import routes as routing_rules
from app.workflow.tag_sets import routes as tag_sets

BLUEPRINTS: list[Blueprint] = [
    auth.blueprint,
    invitations.token_blueprint,
    sso.blueprint,
    organizations.blueprint,
    members.blueprint,
    invitations.blueprint,
    sso.configurations,
    api_keys.blueprint,
    audit.blueprint,
    schemas.blueprint,
    schema_imports.blueprint,
    schemas.versions,
    schema_statistics.blueprint,
    templates.blueprint,
    artifacts.blueprint,
    bulk_import.blueprint,
    predictions.blueprint,
    assignment.blueprint,
    history.blueprint,
    tag_sets.artifacts,
    tag_sets.blueprint,
    comments.blueprint,
    review_queue.blueprint,
    connectors.blueprint,
    ingestion_jobs.blueprint,
    extraction_jobs.blueprint,
    routing_rules.blueprint,
    teams.blueprint,
    workload.blueprint,
    users.blueprint,
    workload.my_work_blueprint,
    exports.blueprint,
    scheduled_exports.blueprint,
    export_formats.blueprint,
    quality.blueprint,
    quality_runs.blueprint,
    drift.blueprint,
    webhooks.blueprint,
    notifications.blueprint,
    plans.blueprint,
    usage.blueprint,
    plan_changes.blueprint,
    invoices.blueprint,
    billing_profiles.blueprint,
    feedback.blueprint,
    control_plane.blueprint,
    billing_periods.blueprint,
]

WEBHOOKS = webhook_catalog.build_openapi_webhooks()
"""The OpenAPI descriptions of the webhook requests that the service sends."""

PAGES: list[FlaskBlueprint] = [pages.blueprint]
"""Blueprints of HTML pages for users; they are not part of the API description."""
