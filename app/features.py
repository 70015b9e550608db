"""Registry of job and model modules. `app.endpoints` is the registry of routes and pages."""

from types import ModuleType

from app.billing.invoices import jobs as invoice_jobs
from app.billing.invoices import models as invoice_models
from app.billing.periods import models as billing_period_models
from app.billing.plan_changes import jobs as plan_change_jobs
from app.billing.plan_changes import models as plan_change_models
from app.billing.plans import models as plan_models
from app.billing.profiles import models as billing_profile_models
from app.billing.usage import jobs as usage_jobs
from app.billing.usage import models as usage_models
from app.delivery.exports import jobs as export_jobs
from app.delivery.exports import models as export_models
from app.delivery.notifications import jobs as notification_jobs
from app.delivery.notifications import models as notification_models
from app.delivery.scheduled_exports import jobs as scheduled_export_jobs
from app.delivery.scheduled_exports import models as scheduled_export_models
from app.delivery.webhooks import jobs as webhook_jobs
from app.delivery.webhooks import models as webhook_models
from app.documents.artifacts import jobs as artifact_jobs
from app.documents.artifacts.models import content as artifact_content_models
from app.documents.artifacts.models import documents as artifact_models
from app.documents.artifacts.models import people as artifact_people_models
from app.identity.api_keys import models as api_key_models
from app.identity.audit import jobs as audit_jobs
from app.identity.audit import models as audit_models
from app.identity.auth import jobs as auth_jobs
from app.identity.auth import models as auth_models
from app.identity.control_plane import jobs as control_plane_jobs
from app.identity.erasing import jobs as erasing_jobs
from app.identity.invitations import models as invitation_models
from app.identity.organizations import models as organization_models
from app.identity.sso import jobs as sso_jobs
from app.identity.sso import models as sso_models
from app.identity.teams import models as team_models
from app.identity.users import models as user_models
from app.insight.drift import jobs as drift_jobs
from app.insight.drift import models as drift_models
from app.insight.feedback import jobs as feedback_jobs
from app.insight.feedback import models as feedback_models
from app.insight.quality import jobs as quality_jobs
from app.insight.quality import models as quality_models
from app.insight.quality_runs import jobs as quality_run_jobs
from app.insight.quality_runs import models as quality_run_models
from app.intake.bulk_import import jobs as bulk_import_jobs
from app.intake.connectors import jobs as connector_jobs
from app.intake.connectors import models as connector_models
from app.intake.extraction_jobs import jobs as extraction_job_jobs
from app.intake.ingestion_jobs import jobs as ingestion_job_jobs
from app.intake.ingestion_jobs import models as ingestion_job_models
from app.intake.reprocess_jobs import jobs as reprocess_job_jobs
from app.kit import idempotency, watermarks
from app.kit.counters import jobs as counter_jobs
from app.kit.counters import models as counter_models
from app.kit.jobs import schedule, upkeep
from app.schemas.artifact_schemas import jobs as schema_jobs
from app.schemas.artifact_schemas import models as schema_models
from app.workflow.assignment import jobs as assignment_jobs
from app.workflow.comments import models as comment_models
from app.workflow.predictions import jobs as prediction_jobs
from app.workflow.predictions import models as prediction_models
from app.workflow.review_queue import jobs as review_queue_jobs
from app.workflow.routing_rules import jobs as routing_rule_jobs
from app.workflow.routing_rules import models as routing_rule_models
from app.workflow.tag_sets import jobs as tag_set_jobs
from app.workflow.tag_sets import models as tag_set_models

JOBS: list[ModuleType] = [
    upkeep,
    counter_jobs,
    audit_jobs,
    auth_jobs,
    control_plane_jobs,
    erasing_jobs,
    schema_jobs,
    artifact_jobs,
    assignment_jobs,
    tag_set_jobs,
    review_queue_jobs,
    routing_rule_jobs,
    prediction_jobs,
    feedback_jobs,
    connector_jobs,
    ingestion_job_jobs,
    bulk_import_jobs,
    drift_jobs,
    extraction_job_jobs,
    reprocess_job_jobs,
    export_jobs,
    scheduled_export_jobs,
    quality_run_jobs,
    webhook_jobs,
    notification_jobs,
    usage_jobs,
    plan_change_jobs,
    invoice_jobs,
    quality_jobs,
    sso_jobs,
]
"""Modules with job handlers; importing a module registers its handlers."""

MODELS: list[ModuleType] = [
    auth_models,
    api_key_models,
    audit_models,
    organization_models,
    invitation_models,
    team_models,
    user_models,
    sso_models,
    schema_models,
    export_models,
    scheduled_export_models,
    quality_run_models,
    notification_models,
    webhook_models,
    billing_period_models,
    plan_models,
    billing_profile_models,
    plan_change_models,
    invoice_models,
    usage_models,
    artifact_models,
    artifact_content_models,
    artifact_people_models,
    prediction_models,
    tag_set_models,
    comment_models,
    routing_rule_models,
    connector_models,
    ingestion_job_models,
    quality_models,
    drift_models,
    feedback_models,
    counter_models,
    idempotency,
    schedule,
    watermarks,
]
"""Modules with database models; importing a module registers its tables."""
