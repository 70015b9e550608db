"""Compute the distances between pairs of categories, and their mean.

Cohen 1968, Weighted kappa: Nominal scale agreement with provision for scaled disagreement,
Psychological Bulletin 70. Gwet 2014, Handbook of Inter-Rater Reliability, 4th edition, section 3.5
(linear, quadratic and ordinal weights). A pair of different ratings x and y gets the credit 1 -
d(x, y) / d(lowest, highest), where d is |x - y| for linear weights, (x - y)^2 for quadratic
weights, and r(r + 1) / 2 for ordinal weights; r is the difference of ranks.
"""

from dataclasses import dataclass

import numpy as np

from app.engines.agreement.coefficients.ratings import Floats, Integers
from app.engines.agreement.metrics import Weights


@dataclass(frozen=True, slots=True)
class Scale:
    """The values of the categories, scaled from 0 for the lowest to 1 for the highest.

    The distance is `linear` |x - y| + `quadratic` (x - y)^2; the factors add up to 1.
    """

    values: Floats
    linear: float
    quadratic: float

    def compute_distances(self, a: Integers, b: Integers) -> Floats:
        """Return the distances of the categories in `a` from the categories in `b`."""
        gaps = np.abs(self.values[a] - self.values[b])
        return self.linear * gaps + self.quadratic * gaps**2

    def compute_expected_distance(self, p: Floats, q: Floats) -> Floats:
        """Compute the mean distance between independent ratings.

        `p` and `q` are the proportions of the categories in the two sets of ratings: arrays of
        categories by resamples, in which each column sums to 1. With the distribution functions F
        and G, the mean of |x - y| is the integral of F(1 - G) + G(1 - F).
        """
        expected = np.zeros(p.shape[1])
        if self.linear and len(self.values) > 1:
            f, g = np.cumsum(p, axis=0)[:-1], np.cumsum(q, axis=0)[:-1]
            expected += self.linear * (np.diff(self.values) @ (f * (1 - g) + g * (1 - f)))
        if self.quadratic:
            centered_values = self.values - 0.5
            mean_p, mean_q = centered_values @ p, centered_values @ q
            squares = centered_values**2
            expected += self.quadratic * (squares @ p + squares @ q - 2 * mean_p * mean_q)
        return expected


def build_scale(values: Floats, weights: Weights) -> Scale | None:
    """Build the scale for sorted categories; return None if there are no weights or categories."""
    if weights == "unweighted" or not len(values):
        return None
    if weights == "ordinal":
        values = np.arange(len(values), dtype=np.float64)
    spread = float(values[-1] - values[0]) or 1.0
    scaled_values = (values - values[0]) / spread
    if weights == "ordinal":
        # r(r + 1) / 2 divided by its greatest value, with r = spread * |x - y|
        return Scale(scaled_values, 1 / (spread + 1), spread / (spread + 1))
    is_linear = weights == "linear"
    return Scale(scaled_values, float(is_linear), float(not is_linear))
