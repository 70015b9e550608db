"""Measure the agreement of raters, with confidence intervals.

`build_ratings` reads the ratings of one field from database rows, and `build_ratings_by_field`
reads the ratings of several fields. `measure` computes a coefficient over all raters, and
`measure_pairs` computes it for each pair of raters. `build_mark_sets`, `measure_marks` and
`measure_mark_pairs` do the same for text spans and page regions.

    ratings = build_ratings((document_id, labeler_id, value) for ...)
    estimate = measure(ratings, Metric.KRIPPENDORFF_ALPHA, resamples=1000, seed=13)

Results never contain NaN: an undefined coefficient is None and has a warning. The same ratings and
the same seed give the same interval, regardless of the order of the rows.

This package imports numpy. Import it inside the job that needs it. The names of the coefficients
and the result types are in `app.engines.agreement.metrics`, which does not import numpy.
"""

from app.engines.agreement.coefficients.kappa import count_pairs
from app.engines.agreement.coefficients.mark_measures import (
    count_mark_pairs,
    measure_mark_pairs,
    measure_marks,
)
from app.engines.agreement.coefficients.mark_sets import MarkSets, build_mark_sets
from app.engines.agreement.coefficients.measuring import (
    measure,
    measure_all,
    measure_pairs,
)
from app.engines.agreement.coefficients.ratings import (
    EMPTY,
    Ratings,
    build_ratings,
    build_ratings_by_field,
)
from app.engines.agreement.coefficients.values import normalize_value

__all__ = [
    "EMPTY",
    "MarkSets",
    "Ratings",
    "build_mark_sets",
    "build_ratings",
    "build_ratings_by_field",
    "count_mark_pairs",
    "count_pairs",
    "measure",
    "measure_all",
    "measure_mark_pairs",
    "measure_marks",
    "measure_pairs",
    "normalize_value",
]
