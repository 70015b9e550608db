"""Build the cautions of estimates: why one is undefined or less reliable."""

import numpy as np

from app.engines.agreement.coefficients.ratings import Floats, Integers, Ratings
from app.engines.agreement.metrics import Caution, CautionCode, Metric

FEW = 30
"""With fewer documents the bootstrap understates the width of intervals."""
CHANCE_CORRECTED = frozenset((Metric.COHEN_KAPPA, Metric.FLEISS_KAPPA, Metric.KRIPPENDORFF_ALPHA))


def explain_missing_pairs(rater_count: int) -> Caution:
    """Return the caution that explains why there is nothing to compare."""
    if rater_count == 0:
        return Caution(CautionCode.NO_RATINGS, "There are no ratings.")
    if rater_count == 1:
        text = "Only one person rated. Agreement needs at least two."
        return Caution(CautionCode.ONE_RATER, text)
    text = "No two people rated the same unit. Agreement needs units with at least two ratings."
    return Caution(CautionCode.NO_OVERLAP, text)


def explain_undefined(metric: Metric) -> Caution:
    """Return the caution that explains why a coefficient of comparable ratings is undefined."""
    if metric in CHANCE_CORRECTED:
        text = (
            "All ratings are equal, so this coefficient is undefined (0/0): without variation, "
            "agreement cannot be distinguished from chance. See percent agreement and AC1."
        )
        return Caution(CautionCode.ONE_CATEGORY, text)
    text = "Nobody gave a value, so there is nothing to compare."
    return Caution(CautionCode.NOTHING_MARKED, text)


def list_rating_cautions(ratings: Ratings, counts: Integers, metric: Metric) -> list[Caution]:
    """Return the cautions that follow from the ratings."""
    cautions = []
    if len(np.unique(ratings.codes)) == 1 and metric not in CHANCE_CORRECTED:
        text = "All ratings are equal, so chance alone could explain the agreement."
        cautions.append(Caution(CautionCode.ONE_CATEGORY, text))
    of_unit = counts[ratings.documents]
    incomplete = int(of_unit[ratings.sizes < len(ratings.raters)].sum())
    if incomplete and metric not in (Metric.COHEN_KAPPA, Metric.F1):
        text = (
            f"{incomplete} of {int(of_unit.sum())} units are not rated by all "
            f"{len(ratings.raters)} raters. The existing ratings count."
        )
        cautions.append(Caution(CautionCode.MISSING_RATINGS, text))
    if ratings.left_out:
        text = f"{ratings.left_out} values that are no {ratings.level} value were left out."
        cautions.append(Caution(CautionCode.VALUES_LEFT_OUT, text))
    return cautions


def explain_average(metric: Metric, pair_count: int) -> list[Caution]:
    """Return the caution that a coefficient of two raters is an average over pairs, if it is."""
    if pair_count < 2:  # noqa: PLR2004 - one pair needs no average
        return []
    way = "the mean of" if metric == Metric.COHEN_KAPPA else "pooled over"
    text = f"This coefficient is for two raters; the value is {way} {pair_count} pairs of raters."
    return [Caution(CautionCode.AVERAGE_OF_PAIRS, text)]


def build_interval(
    drawn: Floats, document_count: int, confidence: float
) -> tuple[float | None, float | None, list[Caution]]:
    """Return the percentiles of the resamples, and the cautions that follow from them."""
    if not len(drawn):
        return None, None, []
    if document_count == 1:
        text = "All ratings are of one document, so there is no interval."
        return None, None, [Caution(CautionCode.ONE_DOCUMENT, text)]
    cautions = []
    if document_count < FEW:
        text = f"The interval rests on {document_count} documents and is likely too narrow."
        cautions.append(Caution(CautionCode.FEW_UNITS, text))
    defined = drawn[np.isfinite(drawn)]
    if len(defined) < len(drawn):
        text = f"The coefficient is undefined in {len(drawn) - len(defined)} of {len(drawn)} "
        cautions.append(Caution(CautionCode.UNDEFINED_RESAMPLES, f"{text}resamples."))
    if 2 * len(defined) < len(drawn):
        return None, None, cautions
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, (tail, 1 - tail))
    if low == high:
        text = "All documents agree alike, so the interval has no width. That is no certainty."
        cautions.append(Caution(CautionCode.NO_VARIATION, text))
    return float(low), float(high), cautions
