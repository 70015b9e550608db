"""The modules with job handlers and database models of all features.

Importing a module registers its handlers and its tables. `app.endpoints` is the registry of routes
and pages.
"""

# ruff: noqa: F401 - the imports are the registry

import app.billing.invoices.jobs
import app.billing.invoices.models
import app.billing.periods.models
import app.billing.plan_changes.jobs
import app.billing.plan_changes.models
import app.billing.plans.models
import app.billing.profiles.models
import app.billing.usage.jobs
import app.billing.usage.models
import app.delivery.exports.jobs
import app.delivery.exports.models
import app.delivery.notifications.jobs
import app.delivery.notifications.models
import app.delivery.scheduled_exports.jobs
import app.delivery.scheduled_exports.models
import app.delivery.webhooks.jobs
import app.delivery.webhooks.models
import app.documents.artifacts.jobs
import app.documents.artifacts.models.content
import app.documents.artifacts.models.documents
import app.documents.artifacts.models.people
import app.identity.api_keys.models
import app.identity.audit.jobs
import app.identity.audit.models
import app.identity.auth.jobs
import app.identity.auth.models
import app.identity.control_plane.jobs
import app.identity.erasing.jobs
import app.identity.invitations.models
import app.identity.organizations.models
import app.identity.sso.jobs
import app.identity.sso.models
import app.identity.teams.models
import app.identity.users.models
import app.insight.drift.jobs
import app.insight.drift.models
import app.insight.feedback.jobs
import app.insight.feedback.models
import app.insight.quality.jobs
import app.insight.quality.models
import app.insight.quality_runs.jobs
import app.insight.quality_runs.models
import app.intake.bulk_import.jobs
import app.intake.connectors.jobs
import app.intake.connectors.models
import app.intake.extraction_jobs.jobs
import app.intake.ingestion_jobs.jobs
import app.intake.ingestion_jobs.models
import app.intake.reprocess_jobs.jobs
import app.kit.counters.jobs
import app.kit.counters.models
import app.kit.idempotency
import app.kit.jobs.schedule
import app.kit.jobs.upkeep
import app.kit.watermarks
import app.schemas.artifact_schemas.jobs
import app.schemas.artifact_schemas.models
import app.workflow.assignment.jobs
import app.workflow.comments.models
import app.workflow.predictions.jobs
import app.workflow.predictions.models
import app.workflow.review_queue.jobs
import app.workflow.routing_rules.jobs
import app.workflow.routing_rules.models
import app.workflow.tag_sets.jobs
import app.workflow.tag_sets.models
