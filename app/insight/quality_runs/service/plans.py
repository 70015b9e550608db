"""Plan how each field of a schema is compared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from app.engines.agreement.metrics import (
    RATING_METRICS,
    REGION_METRICS,
    SPAN_METRICS,
    Metric,
)
from app.engines.agreement.tag_keys import FieldSpec, build_field_specs
from app.insight.quality_runs.queries.records import VersionFields
from app.kit.chunks import split_by_size

DEFAULT_METRICS = (
    Metric.PERCENT,
    Metric.COHEN_KAPPA,
    Metric.FLEISS_KAPPA,
    Metric.KRIPPENDORFF_ALPHA,
    Metric.F1,
)
PAIR_METRICS = frozenset((Metric.PERCENT, Metric.COHEN_KAPPA, Metric.F1, Metric.IOU))
"""The metrics that are also computed for each pair of labelers."""
CHOICE_TYPES = frozenset(("choice", "boolean", "country", "currency"))
"""The types of the single-value fields that have a confusion matrix."""
INTERVAL_TYPES = frozenset(("number", "integer", "date", "time", "datetime"))
"""The field types whose values have distances, which Krippendorff's alpha considers."""

PAIR_RESAMPLES = 200
"""The number of bootstrap resamples for the confidence interval of a pair."""
MAX_PAIRS_WITH_INTERVALS = 66
"""The maximum number of pairs with confidence intervals: the pairs of twelve labelers. With more
pairs, no pair has an interval, because each interval takes as long to compute as the interval of
a field."""
MAX_RATERS_IN_PAIRS = 100
"""The maximum number of labelers of a field for which pairs are computed."""
MAX_PAIRS = 20_000
"""The maximum number of pairs that a run computes. A field that would exceed this limit has no
pairs."""
MAX_ARRAYS_PER_PASS = 4
"""The maximum number of rating arrays that a pass fills: one array for each field, and a second
array if the values have distances. With 100,000 documents and three labelers, an array takes 27 MB.
"""


class ComparisonMethod(StrEnum):
    """The way in which the values of a field are compared."""

    VALUE = "value"
    """One value per labeler."""
    SET = "set"
    """A set of values per labeler, such as the values of a table column."""
    SPANS = "spans"
    REGIONS = "regions"


_AVAILABLE_METRICS = {
    ComparisonMethod.VALUE: RATING_METRICS,
    ComparisonMethod.SET: frozenset((Metric.F1,)),
    ComparisonMethod.SPANS: SPAN_METRICS,
    ComparisonMethod.REGIONS: REGION_METRICS,
}


@dataclass(frozen=True, slots=True)
class FieldPlan:
    """The plan for comparing a field.

    `kind` is the field's newest type. `version_ids` are the versions in which it has this type and
    the same `multiple`; `other_versions` maps the ids of its other versions to their numbers.
    `options` are the values of a choice field in the newest schema version.
    """

    name: str
    kind: str
    comparison: ComparisonMethod
    metrics: tuple[Metric, ...]
    version_ids: frozenset[UUID]
    other_versions: dict[UUID, int] = field(default_factory=dict)
    options: tuple[str, ...] = ()

    @property
    def has_distances(self) -> bool:
        """Return whether Krippendorff's alpha uses the distances between the values."""
        return self.comparison == ComparisonMethod.VALUE and self.kind in INTERVAL_TYPES

    @property
    def has_confusion_matrix(self) -> bool:
        """Return whether the field has a confusion matrix."""
        return self.comparison == ComparisonMethod.VALUE and self.kind in CHOICE_TYPES


def _find_newest_field_specs(
    field_specs_of_versions: Iterable[Mapping[str, FieldSpec]],
) -> dict[str, FieldSpec]:
    """Return each field's specification in the first version, which is the newest, that has it."""
    newest_field_specs: dict[str, FieldSpec] = {}
    for field_specs in field_specs_of_versions:
        for name, field_spec in field_specs.items():
            newest_field_specs.setdefault(name, field_spec)
    return newest_field_specs


def plan_fields(
    versions: Sequence[VersionFields], names: Sequence[str], metrics: Iterable[str]
) -> list[FieldPlan]:
    """Plan the comparison of the fields in `names`, or of all fields if `names` is empty.

    `versions` must be ordered newest first. The type of a field is its type in the newest version
    that contains it. Returns the plans in the order of the fields in the schema.
    """
    field_specs_by_version = {version.id: build_field_specs(version.fields) for version in versions}
    numbers = {version.id: version.number for version in versions}
    selected_metrics = [metric for metric in Metric if metric in set(metrics)]
    newest_field_specs = _find_newest_field_specs(field_specs_by_version.values())
    options = _list_options(versions)
    plans = []
    for name, field_spec in newest_field_specs.items():
        if names and name not in names:
            continue
        field_spec_by_version = {
            key: specs[name] for key, specs in field_specs_by_version.items() if name in specs
        }
        comparison = _choose_comparison(name, field_spec)
        plan = FieldPlan(
            name=name,
            kind=field_spec.field_type,
            comparison=comparison,
            metrics=tuple(
                metric for metric in selected_metrics if metric in _AVAILABLE_METRICS[comparison]
            ),
            version_ids=frozenset(
                key for key, other in field_spec_by_version.items() if other == field_spec
            ),
            other_versions={
                key: numbers[key]
                for key, other in field_spec_by_version.items()
                if other != field_spec
            },
            options=options.get(name, ()),
        )
        plans.append(plan)
    return plans


def group_value_plans(plans: Iterable[FieldPlan]) -> list[list[FieldPlan]]:
    """Group the plans of single-value fields, so that each group is measured in one pass."""
    value_plans = [plan for plan in plans if plan.comparison == ComparisonMethod.VALUE]
    return list(
        split_by_size(value_plans, lambda plan: 1 + plan.has_distances, MAX_ARRAYS_PER_PASS)
    )


def choose_resample_count(rater_count: int) -> int:
    """Choose the number of resamples for the interval of each pair; 0 omits the intervals."""
    pair_count = rater_count * (rater_count - 1) // 2
    return PAIR_RESAMPLES if pair_count <= MAX_PAIRS_WITH_INTERVALS else 0


def _list_options(versions: Sequence[VersionFields]) -> dict[str, tuple[str, ...]]:
    """List the options of each choice field in the newest version, including unused options."""
    return {
        entry["key"]: tuple(option["value"] for option in entry["options"])
        for version in versions[:1]
        for entry in version.fields
        if entry["options"]
    }


def _choose_comparison(name: str, field_spec: FieldSpec) -> ComparisonMethod:
    if field_spec.field_type == "span":
        return ComparisonMethod.SPANS
    if field_spec.field_type == "region":
        return ComparisonMethod.REGIONS
    if field_spec.multiple or "." in name:
        return ComparisonMethod.SET
    return ComparisonMethod.VALUE
