"""Compute percent agreement, Fleiss' kappa, and Gwet's AC1 and AC2 for any number of raters."""

from typing import Literal

import numpy as np

from app.engines.agreement.coefficients.bootstrap import RatioStatistic
from app.engines.agreement.coefficients.ratings import Floats, Ratings
from app.engines.agreement.coefficients.scales import Scale
from app.engines.agreement.coefficients.units import (
    SquaredCounts,
    compute_mean_distances,
    compute_nominal_distances,
    sum_by_document,
)

_ROUNDING_ERROR = 1e-14
"""An expected disagreement below this limit counts as zero, because of rounding errors."""


def build_percent_agreement(ratings: Ratings, scale: Scale | None = None) -> RatioStatistic:
    """Build the statistic for the fraction of rater pairs that agree, averaged over the units.

    Fleiss 1971, Measuring nominal scale agreement among many raters, Psychological Bulletin 76,
    equation 2. With a `scale`, different ratings agree in part: by 1 minus their distance. Units
    that some raters did not rate are treated as in Gwet 2014, section 2.5; units with one rater are
    ignored.
    """
    compute_distances = compute_nominal_distances if scale is None else scale.compute_distances
    has_pairs = (ratings.sizes > 1).astype(np.float64)
    agreement = has_pairs * (1 - compute_mean_distances(ratings, compute_distances))
    return RatioStatistic(sum_by_document(ratings, [agreement, has_pairs]))


class ChanceCorrectedAgreement:
    """Percent agreement pa corrected for the agreement pe expected by chance: (pa - pe) / (1 - pe).

    `fleiss`: pe is the sum of the squared proportions of the categories (Fleiss 1971, equation 5).

    `gwet`: pe = T sum(p(1 - p)) / (q(q - 1)), where T is the sum of the weights over all pairs of q
    categories (T = q if unweighted) (Gwet 2008, Computing inter-rater reliability and its variance
    in the presence of high agreement, British Journal of Mathematical and Statistical Psychology
    61; with weights Gwet 2014, equation 5.3.1).

    In both formulas, a unit with fewer raters counts as much as any other unit, and a unit with a
    single rater only affects the proportions of the categories (Gwet 2014, sections 2.5 and 5.3).
    """

    def __init__(
        self,
        ratings: Ratings,
        formula: Literal["fleiss", "gwet"],
        scale: Scale | None = None,
    ) -> None:
        self._agreement = build_percent_agreement(ratings, scale)
        # In a unit with m ratings, each rating adds 1/m to its category.
        self._squares = SquaredCounts(ratings, 1.0 / ratings.sizes[ratings.units])
        self._unit_counts = np.bincount(ratings.documents, minlength=ratings.document_count)
        self._is_gwet = formula == "gwet"
        count = ratings.category_count
        self._factor = 1.0 / max(count - 1, 1)
        if scale is not None and count > 1:
            uniform_proportions = np.full((count, 1), 1.0 / count)
            credit = (
                1 - scale.compute_expected_distance(uniform_proportions, uniform_proportions)[0]
            )
            self._factor = credit * count / (count - 1)
        self.width = self._squares.width

    def compute(self, weights: Floats) -> Floats:
        """Return one coefficient per resample (column of `weights`); NaN if it is undefined."""
        squares = self._squares.compute(weights) / (self._unit_counts @ weights) ** 2
        expected = self._factor * (1 - squares) if self._is_gwet else squares
        result: Floats = (self._agreement.compute(weights) - expected) / (1 - expected)
        result[1 - expected < _ROUNDING_ERROR] = np.nan
        return result
