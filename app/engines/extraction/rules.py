"""Score candidates without a trained model, by nearby keywords, layout and field type."""

import math
from dataclasses import dataclass

from app.engines.extraction.analysis import Analysis
from app.engines.extraction.candidates import Candidate, find_field_keywords
from app.engines.extraction.context import KeywordContexts
from app.engines.extraction.options import ABSENT
from app.engines.extraction.values import Target
from app.engines.fields import ValueProblem
from app.engines.fields.identifiers import parse_identifier

MIN_RULE_SCORE = 2.0
"""The minimum rule score for a candidate to be proposed without a trained model."""

_OTHER_AMOUNT_CONCEPTS = frozenset({"subtotal", "tax", "cash", "change", "rounding", "discount"})
_UNRELATED_CONCEPTS = frozenset(
    {
        *("phone", "tax_id", "iban", "bic", "email", "website", "date", "due_date", "number"),
        *("customer_number", "order_number", "operator", "total", "subtotal", "tax", "cash"),
        *("quantity", "unit_price"),
    }
)
"""The concepts of keywords that never belong to a company's name or an address."""
_LARGE_TEXT_RATIO = 1.2


@dataclass(slots=True)
class FieldView:
    """One field's view of a document: the analysis, and the keywords that name the field.

    `field_keywords` maps the index of the last token of each of these keywords to the index of its
    first token. `largest_amount` is the document's largest absolute amount with decimals, or 0.
    """

    analysis: Analysis
    target: Target
    field_keywords: dict[int, int]
    contexts: KeywordContexts
    largest_amount: float


def build_field_view(analysis: Analysis, target: Target, contexts: KeywordContexts) -> FieldView:
    """Build a field's view of a document, with the keywords that name the field.

    `contexts` are shared by all fields. If some of the field's keywords are not in the lexicon,
    separate contexts are built.
    """
    field_keywords = dict(find_field_keywords(analysis, target))
    if not field_keywords.keys() <= analysis.keywords.ends.keys():
        contexts = KeywordContexts(analysis, field_keywords)
    values = [abs(float(a.value)) for a in analysis.amounts if "." in a.value]
    return FieldView(analysis, target, field_keywords, contexts, max(values, default=0.0))


@dataclass(slots=True)
class NearbyKeywords:
    """The concepts of the nearest keywords left of a candidate and above it.

    `left` and `above` are "" if there is no such keyword, or it is not in the lexicon.
    `left_matches_field` and `above_matches_field` state whether these keywords name the candidate's
    field. `distance` is the number of tokens from the left keyword to the candidate, or 99.
    """

    left: str
    left_matches_field: bool
    distance: int
    above: str
    above_matches_field: bool


def find_nearby_keywords(view: FieldView, candidate: Candidate) -> NearbyKeywords:
    """Return the nearest keywords left of a candidate and above it."""
    concepts = view.analysis.keywords.concepts
    left = view.contexts.left_indexes[candidate.first]
    above = view.contexts.find_keyword_above(candidate.first)
    while above + 1 < len(concepts) and above >= 0 and above not in view.field_keywords:
        if concepts[above + 1] != concepts[above] or above in view.analysis.keywords.ends:
            break
        above += 1
    return NearbyKeywords(
        concepts[left] if left >= 0 else "",
        left in view.field_keywords,
        candidate.first - left if left >= 0 else 99,
        concepts[above] if above >= 0 else "",
        above in view.field_keywords,
    )


def score_candidate(view: FieldView, candidate: Candidate, keywords: NearbyKeywords) -> float:
    """Return a candidate's rule score; `rule_based` requires at least MIN_RULE_SCORE."""
    kind = view.target.kind
    if kind in ("option", "currency"):
        return -1.0 if candidate.kind == ABSENT else 3.0 - 0.1 * min(candidate.first, 9)
    points = _score_nearby_keywords(keywords)
    if kind in ("amount", "date", "time", "datetime"):
        return points + _score_typed_text(view, candidate, keywords)
    if view.target.concept == "company":
        return points + _score_company(view, candidate)
    if view.target.concept in ("address", "customer") or view.target.field["type"] == "address":
        return points + _score_address(view, candidate)
    if kind in ("email", "url", "phone"):
        return points + 3.0 - 0.1 * min(view.analysis.tokens[candidate.first].row, 9)
    return points + _score_code(view, candidate, keywords)


def to_confidence(points: float) -> float:
    """Convert a rule score to a confidence between 0 and 0.9."""
    return round(0.9 / (1 + math.exp(-(points - 4.0) / 1.5)), 4)


def _score_nearby_keywords(keywords: NearbyKeywords) -> float:
    if keywords.left_matches_field:
        return 4.0 - 0.15 * min(keywords.distance, 8)
    if keywords.above_matches_field and not keywords.left:
        return 3.0
    return (1.0 if keywords.above_matches_field else 0.0) - (1.5 if keywords.left else 0.0)


def _score_typed_text(view: FieldView, candidate: Candidate, keywords: NearbyKeywords) -> float:
    analysis, concept = view.analysis, view.target.concept
    points = -1.0 if candidate.is_alternative else 0.0
    row = analysis.tokens[candidate.first].row
    if view.target.kind != "amount":
        is_first = analysis.dates and candidate.first == analysis.dates[0].first
        is_due_date = keywords.left == "due_date" or (
            keywords.above == "due_date" and not keywords.left
        )
        points += 1.0 if is_first and concept != "due_date" else 0.0
        return (
            points - (3.0 if is_due_date and concept == "date" else 0.0) + (1.5 if concept else 0)
        )
    has_cents = "." in candidate.text[-3:] or "," in candidate.text[-3:]
    points += 0.8 if has_cents else -0.8
    if concept == "total":
        value = abs(float(candidate.key)) if _is_number(candidate.key) else 0.0
        points += 1.0 if value and value >= view.largest_amount else 0.0
        points += min(analysis.amount_counts[candidate.key], 3) * 0.2 if has_cents else 0.0
        points += row / max(len(analysis.layout.rows), 1)
        points += 0.4 * min(analysis.sum_scores.get(candidate.key, 0), 2)
        points -= 2.0 if keywords.left in _OTHER_AMOUNT_CONCEPTS else 0.0
        points -= 3.0 if keywords.left in {"number", "tax_id", "phone", "date", "operator"} else 0.0
        points -= 2.0 if value == 0 else 0.0
    return points


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).lstrip("-").isdigit()


def _score_company(view: FieldView, candidate: Candidate) -> float:
    tokens = view.analysis.tokens[candidate.first : candidate.last + 1]
    concepts = set(view.analysis.keywords.concepts[candidate.first : candidate.last + 1])
    row = tokens[0].row
    points = 2.5 - 0.3 * min(row, 9) - 1.2 * (len(candidate.ranges) - 1)
    points += 2.0 if "company" in concepts else 0.0
    points -= 2.0 if concepts & (_UNRELATED_CONCEPTS | {"address"}) else 0.0
    height_ratio = (tokens[0].box[3] - tokens[0].box[1]) / view.analysis.layout.word_height
    points += 0.7 if height_ratio > _LARGE_TEXT_RATIO else 0.0
    digit_count = sum(char.isdigit() for char in candidate.text)
    points -= 3.0 * digit_count / max(len(candidate.text), 1)
    return points - (0.5 if candidate.kind not in ("lines", "rows") else 0.0)


def _score_address(view: FieldView, candidate: Candidate) -> float:
    tokens = view.analysis.tokens
    indexes = [index for first, last in candidate.ranges for index in range(first, last + 1)]
    concepts = [view.analysis.keywords.concepts[index] for index in indexes]
    line_count = len(candidate.ranges)
    has_postal_code = any(
        4 <= len(tokens[i].compact) <= 6 and tokens[i].compact.isdigit()  # noqa: PLR2004
        for i in indexes
    )
    points = 0.5 - 0.1 * min(tokens[candidate.first].row, 9)
    points += min(concepts.count("address"), 3) * 0.7 + (1.8 if has_postal_code else 0.0)
    points += 0.8 if 2 <= line_count <= 4 else 0.0  # noqa: PLR2004 - the usual number of lines
    points += 0.6 if any(char.isdigit() for char in candidate.text[:12]) else 0.0
    points -= 1.5 if candidate.text.startswith("(") else 0.0
    unrelated_count = sum(1 for concept in concepts if concept in _UNRELATED_CONCEPTS)
    points -= 2.0 * min(unrelated_count, 2) + (1.5 if "company" in concepts else 0.0)
    points -= 1.0 if len(candidate.text) < 12 else 0.0  # noqa: PLR2004 - no address is so short
    return points - (1.0 if tokens[candidate.first].row == 0 else 0.0)


def _is_iban(text: str) -> bool:
    try:
        return bool(parse_identifier(text, ("iban",)))
    except ValueProblem:
        return False


def _score_code(view: FieldView, candidate: Candidate, keywords: NearbyKeywords) -> float:
    text = candidate.text
    points = 0.0
    if view.target.kind == "code" or view.target.concept in ("number", "order_number"):
        digit_count = sum(char.isdigit() for char in text)
        points += 1.0 if digit_count else -2.0
        points += 0.5 if len(text) > 3 else -0.5  # noqa: PLR2004 - identifiers are longer
        if view.target.concept == "iban" and _is_iban(text):
            points += 1.0
        else:
            points -= 0.6 * text.count(" ") + (1.0 if text[:1] in "#:" else 0.0)
        indexes = range(candidate.first, candidate.last + 1)
        points -= 0.0 if view.analysis.date_token_indexes.isdisjoint(indexes) else 2.0
        points -= 1.5 if candidate.first in view.analysis.decimal_start_indexes else 0.0
        points -= (
            1.0
            if any(view.analysis.keywords.concepts[candidate.first : candidate.last + 1])
            else 0.0
        )
    if keywords.left_matches_field and keywords.distance > 2:  # noqa: PLR2004 - not next to it
        points -= 1.5
    return points + (0.3 if candidate.kind == "after" else 0.0)
