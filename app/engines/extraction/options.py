"""List candidates for choice, boolean, currency and country fields.

Some of these candidates are values that do not occur in the document.
"""

from collections.abc import Iterator

from app.engines.extraction.alignment import ValueSearcher
from app.engines.extraction.analysis import Analysis
from app.engines.extraction.candidates import Candidate
from app.engines.extraction.currencies import read_currency
from app.engines.extraction.layout import compact_text
from app.engines.extraction.values import Target
from app.engines.fields.values.currencies import get_allowed_currencies

ABSENT = "absent"
"""The `kind` of a candidate that does not occur in the document; its tag gets no evidence."""

_MAX_OPTIONS = 60
_MIN_OPTION_LENGTH = 2
_MIN_COUNTRY_LENGTH = 4


def list_options(analysis: Analysis, searcher: ValueSearcher, target: Target) -> list[Candidate]:
    """Return candidates for the values that the field allows.

    Only the first _MAX_OPTIONS options of a choice field are used. ABSENT candidates stand for both
    values of a boolean field, for the options of a choice field that the document does not contain,
    and for the only currency that a currency field allows if the document does not contain it.
    Returns no candidates for a document without words.
    """
    field_type = target.field["type"]
    if not analysis.tokens:
        return []
    if field_type == "boolean":
        return [_build_absent_candidate(value) for value in ("true", "false")]
    if field_type == "currency":
        return list(_list_currencies(analysis, target))
    if field_type == "country":
        return list(_list_countries(searcher))
    candidates = []
    for option in target.field["options"][:_MAX_OPTIONS]:
        value = option["value"]
        candidate = _find_option(searcher, value, (option["label"], value), _MIN_OPTION_LENGTH)
        candidates.append(candidate or _build_absent_candidate(value))
    return candidates


def _build_absent_candidate(value: str) -> Candidate:
    return Candidate(ABSENT, ((0, 0),), 0, 0, value, value)


def _find_option(
    searcher: ValueSearcher, value: str, names: tuple[str, ...], min_length: int
) -> Candidate | None:
    """Return a candidate for `value` at the first occurrence of one of its `names`, or None.

    Names with fewer than `min_length` letters and digits are ignored.
    """
    for name in names:
        compact_name = compact_text(name)
        if len(compact_name) >= min_length:
            for candidate in searcher.build_candidates(compact_name, "option"):
                return Candidate(
                    "option", candidate.ranges, candidate.start, candidate.end, value, value
                )
    return None


def _list_currencies(analysis: Analysis, target: Target) -> Iterator[Candidate]:
    allowed_currencies = get_allowed_currencies(target.field)
    listed_codes = set()
    for index, sign in sorted(analysis.currencies.items()):
        code = read_currency(sign, allowed_currencies)
        if (
            code
            and code not in listed_codes
            and (not allowed_currencies or code in allowed_currencies)
        ):
            listed_codes.add(code)
            token = analysis.tokens[index]
            yield Candidate("option", ((index, index),), token.start, token.end, code, code)
    if len(allowed_currencies) == 1 and not listed_codes:
        yield _build_absent_candidate(allowed_currencies[0])


def _list_countries(searcher: ValueSearcher) -> Iterator[Candidate]:
    import pycountry  # noqa: PLC0415 - few schemas have countries

    for country in pycountry.countries:
        candidate = _find_option(searcher, country.alpha_2, (country.name,), _MIN_COUNTRY_LENGTH)
        if candidate:
            yield candidate
