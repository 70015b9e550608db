"""`flask extraction`: commands that evaluate, list, activate and train the AI assistance models."""

from uuid import UUID

import click
from flask.cli import AppGroup

from app.commands.running import (
    EXIT_FINDINGS,
    as_json,
    bind_organization,
    override_not_found_message,
    run_operation,
    show_json,
    show_list,
    show_progress,
    show_record,
)
from app.engines.learning import LearningFailed
from app.kit import db, errors
from app.workflow.predictions.service import store, training

group = AppGroup("extraction", help="Manage the models for AI assistance.")
_COLUMNS = ("id", "schema_version_id", "version", "state", "document_count", "f1", "created_at")
_org_option = click.option("--org", "slug", required=True, help="Slug of the organization.")
_schema_option = click.option(
    "--schema", "schema_id", type=click.UUID, required=True, help="Id of the schema."
)


@group.command("evaluate")
@_org_option
@_schema_option
@click.option(
    "--number", type=click.IntRange(1), help="Number of the schema version. Default: the latest."
)
@click.option(
    "--folds",
    type=click.IntRange(2, 20),
    default=5,
    help="Number of parts; one model is trained per part.",
)
@as_json
def evaluate(slug: str, schema_id: UUID, number: int | None, folds: int, *, as_json: bool) -> None:
    """Measure how well a model learns from a schema's accepted tag sets, by cross-validation.

    Divides the documents into parts, and predicts each part with a model trained on the other
    parts. No model is stored. The models are trained in a child process with one thread.
    """
    with (
        run_operation("evaluate_extraction"),
        show_progress("Evaluating") as report_progress,
        bind_organization(slug),
    ):
        try:
            result = training.evaluate(
                schema_id, number=number, folds=folds, progress=report_progress
            )
        except LearningFailed as failure:
            click.echo(f"{failure.message} ({failure.code})", err=True)
            raise SystemExit(EXIT_FINDINGS) from None
    if result is None:
        click.echo("The organization has no such schema version.", err=True)
        raise SystemExit(EXIT_FINDINGS)
    if as_json:
        show_json(result)
        return
    fields = result["fields"]
    rows = [{"field": name, **fields[name]} for name in sorted(fields)]
    rows.append({"field": "all", **result["overall"]})
    columns = ("field", "support", "proposed", "correct", "precision", "recall", "f1")
    show_list(rows, columns, as_json=False)
    metrics = ("expected_calibration_error", "confident_precision", "confident_coverage")
    show_record({name: result[name] for name in metrics}, as_json=False)


@group.command("versions")
@_org_option
@_schema_option
@as_json
def list_versions(slug: str, schema_id: UUID, *, as_json: bool) -> None:
    """List the models of a schema, newest first."""
    with run_operation("list_extraction_models"), bind_organization(slug):
        rows = [row._asdict() for row in store.list_models(schema_id)]
    show_list(rows, _COLUMNS, as_json=as_json)


@group.command("activate")
@_org_option
@click.argument("model_id", type=click.UUID)
@as_json
def activate(slug: str, model_id: UUID, *, as_json: bool) -> None:
    """Activate the model MODEL_ID, such as an earlier model, for its schema version.

    The model stays active until another model of the schema version is activated, by this command
    or by a later training run.
    """
    message_override = override_not_found_message("The organization has no such model.")
    with (
        run_operation("activate_extraction_model"),
        bind_organization(slug),
        message_override,
        db.transaction(),
    ):
        store.activate(model_id)
    show_record({"id": str(model_id), "state": "active"}, as_json=as_json)


@group.command("train")
@_org_option
@_schema_option
@as_json
def train(slug: str, schema_id: UUID, *, as_json: bool) -> None:
    """Queue a training run for a schema's latest version, even if no training run is due."""
    message_override = override_not_found_message("The organization has no such published schema.")
    with (
        run_operation("train_extraction_model"),
        bind_organization(slug),
        message_override,
        db.transaction(),
    ):
        if not training.enqueue_latest_training(schema_id):
            raise errors.not_found()
    show_record({"schema_id": str(schema_id), "status": "queued"}, as_json=as_json)
