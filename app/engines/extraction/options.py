"""List candidates that the text need not contain: choices, booleans, currencies, countries."""

from collections.abc import Iterator

from app.engines.extraction.alignment import Searcher
from app.engines.extraction.analysis import Analysis
from app.engines.extraction.candidates import Candidate
from app.engines.extraction.layout import compact
from app.engines.extraction.values import Target

ABSENT = "absent"
"""The type of a candidate without a place; it gets no evidence."""

_MAX_OPTIONS = 60
_SHORTEST = 2
_SHORTEST_COUNTRY = 4


def list_options(analysis: Analysis, searcher: Searcher, target: Target) -> list[Candidate]:
    """Return one candidate for each value that the field allows, at its place if it has one."""
    kind = target.field["type"]
    if not analysis.tokens:
        return []
    if kind == "boolean":
        return [_build(ABSENT, key, key) for key in ("true", "false")]
    if kind == "currency":
        return list(_list_currencies(analysis, target))
    if kind == "country":
        return list(_list_countries(searcher))
    found = []
    for option in target.field["options"][:_MAX_OPTIONS]:
        value = option["value"]
        placed = _find(searcher, value, (option["label"], value), _SHORTEST)
        found.append(placed or _build(ABSENT, value, value))
    return found


def _build(kind: str, key: str, text: str, span: tuple[int, int] = (0, 0)) -> Candidate:
    return Candidate(kind, (span,), 0, 0, text, key)


def _find(searcher: Searcher, key: str, names: tuple[str, ...], shortest: int) -> Candidate | None:
    for name in names:
        letters = compact(name)
        if len(letters) >= shortest:
            for one in searcher.build(letters, "option"):
                return Candidate("option", one.ranges, one.start, one.end, key, key)
    return None


def _list_currencies(analysis: Analysis, target: Target) -> Iterator[Candidate]:
    allowed = target.field["constraints"].get("currencies") or []
    seen = set()
    for index, code in sorted(analysis.currencies.items()):
        if code not in seen and (not allowed or code in allowed):
            seen.add(code)
            token = analysis.tokens[index]
            yield Candidate("option", ((index, index),), token.start, token.end, code, code)
    if len(allowed) == 1 and not seen:
        yield _build(ABSENT, allowed[0], allowed[0])


def _list_countries(searcher: Searcher) -> Iterator[Candidate]:
    import pycountry  # noqa: PLC0415 - few schemas have countries

    for country in pycountry.countries:
        found = _find(searcher, country.alpha_2, (country.name,), _SHORTEST_COUNTRY)
        if found:
            yield found
