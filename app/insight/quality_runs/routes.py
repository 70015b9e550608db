"""Routes for quality runs."""

from typing import Any
from uuid import UUID

from app.insight.quality_runs import models
from app.insight.quality_runs.schemas import (
    Agreement,
    AgreementQuery,
    ComputeQuality,
    ConfusionMatrix,
    ConfusionQuery,
    Disagreement,
    DisagreementFilters,
    QualityRun,
    QualityRunSummary,
    RunFilters,
)
from app.insight.quality_runs.service import reading, runs
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("quality-runs", tag="quality", record_type="quality_runs")


@blueprint.post(
    "/quality/compute",
    permission="quality_runs:create",
    limit="compute_quality",
    body=ComputeQuality,
    returns=QualityRunSummary,
    status=202,
)
def compute_quality(caller: Caller, body: dict[str, Any]) -> models.QualityRun:
    """Compute inter-rater agreement.

    Queues a run that compares, field by field, the tag sets that different labelers submitted for
    the same document in a period. Drafts, predictions, merges and corrections by reviewers are not
    compared. Text that differs only in case, in spaces or in Unicode compatibility forms counts as
    equal. Also updates the list of disagreements on the schema.
    """
    return runs.create(**body, created_by=caller.user_id)


@blueprint.get(
    "/quality/runs",
    permission="quality_runs:read",
    query=Listing(sort_keys=("-created_at",), filters=RunFilters, has_period=True),
    returns=QualityRunSummary,
)
def list_quality_runs(caller: Caller, query: dict[str, Any]) -> Page:
    """List quality runs.

    Returns runs without their results, optionally filtered by schema, status and creation time.
    """
    return reading.list_runs(**query)


@blueprint.get("/quality/runs/{run_id}", permission="quality_runs:read", returns=QualityRun)
def get_quality_run(caller: Caller, run_id: UUID) -> dict[str, Any]:
    """Get a quality run.

    Returns one run with its status, its progress and, once it is completed, its results.
    """
    return reading.get(run_id, caller=caller)


@blueprint.get(
    "/quality/agreement",
    permission="quality_runs:read",
    query=AgreementQuery,
    returns=Agreement,
)
def get_agreement(caller: Caller, query: dict[str, Any]) -> dict[str, Any]:
    """Get agreement by field and labeler pair.

    Returns the results of the completed run that best fits the query. If `field` is omitted, a run
    of all fields is preferred; if `metric` is omitted, a run with all default metrics; if `from` is
    omitted, a run that begins with the first tag set; if `to` is omitted or in the future, the run
    with the latest end. Among equal runs, the newest is used. If no run covers the query,
    `computed_at` is null and there are no results. Text that differs only in case or spaces counts
    as equal, unlike in the list of disagreements.
    """
    return reading.get_agreement(**query, caller=caller)


@blueprint.get(
    "/quality/disagreements",
    permission="quality_runs:review",
    query=Listing(sort_keys=("-disagreement",), filters=DisagreementFilters),
    returns=Disagreement,
)
def list_disagreements(caller: Caller, query: dict[str, Any]) -> Page:
    """List disagreements.

    Returns the documents and fields on which labelers disagree, with the labelers' answers, largest
    disagreement first. Unlike in quality runs, text that differs in case or spaces is a
    disagreement. The list includes new work within seconds.
    """
    return reading.list_disagreements(**query)


@blueprint.get(
    "/quality/confusion",
    permission="quality_runs:review",
    query=ConfusionQuery,
    returns=ConfusionMatrix,
    render_picture=reading.render_confusion,
)
def get_confusion(caller: Caller, query: dict[str, Any]) -> dict[str, Any]:
    """Get a confusion matrix.

    Returns a matrix of the values of a choice field. It counts how often two labelers of the same
    document chose each pair of values or, with `against=accepted`, how often labelers chose each
    value for each accepted value. The counts are from the completed run that best fits the query,
    as in `GET /quality/agreement`. With `Accept: image/png` or `image/svg+xml` the response is a
    chart.
    """
    return reading.get_confusion(**query)
