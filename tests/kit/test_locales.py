"""Validation of language tags and time zone names."""

import pytest

from app.kit import locales
from app.kit.errors import ApiError


@pytest.mark.parametrize(
    ("given", "kept"),
    [("en", "en"), ("DE-at", "de-AT"), ("zh-hant-tw", "zh-Hant-TW"), ("pt-BR", "pt-BR")],
)
def test_locales_are_kept_in_their_usual_spelling(given: str, kept: str) -> None:
    assert locales.check_locale(given, "locale") == kept


@pytest.mark.parametrize(
    "wrong",
    ["", "-", "xx", "en_GB", "en-", "root", "en@x", "a" * 100, "\x00", "en\n", "é", "../en"],
)
def test_other_locales_are_refused(wrong: str) -> None:
    with pytest.raises(ApiError) as refused:
        locales.check_locale(wrong, "settings.locale")
    assert (refused.value.code, refused.value.field) == ("validation_error", "settings.locale")


@pytest.mark.parametrize("name", ["UTC", "Europe/Vienna", "America/Argentina/Ushuaia"])
def test_time_zones_of_the_iana_are_known(name: str) -> None:
    assert locales.check_time_zone(name, "time_zone") == name


@pytest.mark.parametrize(
    "wrong", ["", "europe/vienna", "Mars/Base", "../etc/passwd", "localtime", "\x00", "+02:00"]
)
def test_other_time_zones_are_refused(wrong: str) -> None:
    with pytest.raises(ApiError):
        locales.check_time_zone(wrong, "time_zone")
