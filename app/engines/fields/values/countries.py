"""Normalize countries to ISO 3166-1 alpha-2 codes with pycountry and its translations."""

import functools
import gettext
import unicodedata
from pathlib import Path

import pycountry

from app.engines.fields.errors import ValueProblem
from app.engines.fields.model import Field, JsonValue, Normalizer
from app.engines.fields.plain_text import clean_text
from app.engines.normalization import normalize

_LANGUAGES = (
    *("ar", "bg", "cs", "da", "de", "el", "es", "et", "fi", "fr", "he", "hr", "hu", "it", "ja"),
    *("ko", "lt", "lv", "nb_NO", "nl", "pl", "pt", "pt_BR", "ro", "ru", "sk", "sl", "sv", "tr"),
    *("uk", "zh_CN", "zh_TW"),
)
_EVERYDAY_NAMES = {
    "america": "US",
    "britain": "GB",
    "burma": "MM",
    "cape verde": "CV",
    "england": "GB",
    "great britain": "GB",
    "holland": "NL",
    "ivory coast": "CI",
    "laos": "LA",
    "macedonia": "MK",
    "northern ireland": "GB",
    "scotland": "GB",
    "swaziland": "SZ",
    "turkey": "TR",
    "uae": "AE",
    "uk": "GB",
    "vatican": "VA",
    "wales": "GB",
}


ALPHA_2: frozenset[str] = frozenset(country.alpha_2 for country in pycountry.countries)
"""The ISO 3166-1 alpha-2 codes of all countries. A stored value is one of these codes."""


def build_normalizer(field: Field) -> Normalizer:  # noqa: ARG001 - a country takes no constraints
    """Build the normalizer for a country field; it returns an alpha-2 code.

    The normalizer accepts alpha-2 codes, alpha-3 codes, and country names in English and thirty
    other languages.
    """
    return _normalize


def _normalize(value: object) -> JsonValue:
    key = _fold_name(clean_text(value))
    code = _load_codes().get(key) or _load_names().get(key)
    if code is None:
        raise ValueProblem("is not a country name or an ISO 3166-1 code")
    return code


def _fold_name(text: str) -> str:
    """Normalize a name for comparisons that ignore case, accents and punctuation."""
    decomposed = normalize("NFKD", text.casefold().replace("&", " and "))
    chars = (
        " " if c in ",-'()" else c for c in decomposed if c != "." and not unicodedata.combining(c)
    )
    return " ".join("".join(chars).split())


@functools.cache
def _load_codes() -> dict[str, str]:
    """Map alpha-2 codes, alpha-3 codes and English names to alpha-2 codes."""
    codes = dict(_EVERYDAY_NAMES)
    for country in pycountry.countries:
        names = (country.alpha_2, country.alpha_3, country.name)
        alternative_names = (
            getattr(country, "common_name", None),
            getattr(country, "official_name", None),
        )
        for name in (*names, *alternative_names):
            if name:
                codes[_fold_name(name)] = country.alpha_2
    return codes


@functools.cache
def _load_names() -> dict[str, str]:
    """Map country names in languages other than English to alpha-2 codes.

    Names that mean different countries in different languages are left out. Called only for text
    that is neither a code nor an English name.
    """
    codes: dict[str, str] = {}
    ambiguous_keys: set[str] = set()
    for language in _LANGUAGES:
        path = Path(pycountry.LOCALES_DIR, language, "LC_MESSAGES", "iso3166-1.mo")
        # gettext.translation would keep every catalog in memory permanently.
        with path.open("rb") as file:
            catalog = gettext.GNUTranslations(file)
        for country in pycountry.countries:
            for name in (country.name, getattr(country, "common_name", None)):
                key = _fold_name(catalog.gettext(name)) if name else ""
                if codes.setdefault(key, country.alpha_2) != country.alpha_2:
                    ambiguous_keys.add(key)
    return {key: code for key, code in codes.items() if key and key not in ambiguous_keys}
