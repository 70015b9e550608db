"""Which route a path belongs to: one that spells a segment out goes before one with a parameter.

werkzeug tries the routes with parameters too when the spelled-out one lacks the method. So
`GET /artifacts/bulk-assign` was a search for the record `bulk-assign` (404), and `Allow` named the
methods of both routes. Here a parameter never takes a value that another route spells out in the
same place, so that such a request is 405 with the methods of its own path.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from flask import Flask
from werkzeug.routing import BaseConverter, Rule

_PARAMETER = re.compile(r"{\w+}|<[^>]+>")


def _normalize(path: str) -> str:
    """Return the path with every parameter written alike, whatever its name is."""
    return _PARAMETER.sub("{}", path)


def _find_literals(paths: Iterable[str]) -> dict[str, set[str]]:
    """Return the segments that paths spell out, by the part of the path before them."""
    literals: dict[str, set[str]] = defaultdict(set)
    for path in paths:
        segments = _normalize(path).split("/")
        for number, segment in enumerate(segments):
            if segment != "{}":
                literals["/".join(segments[:number])].add(segment)
    return literals


def _build_rule(literals: Mapping[str, set[str]]) -> type[Rule]:
    class LiteralsFirst(Rule):
        """A rule whose parameters leave out what other rules spell out in their place."""

        def get_converter(
            self,
            variable_name: str,
            converter_name: str,
            args: tuple[Any, ...],
            kwargs: Mapping[str, Any],
        ) -> BaseConverter:
            converter = super().get_converter(variable_name, converter_name, args, kwargs)
            before, _, _ = self.rule.partition(f":{variable_name}>")
            taken = literals.get(_normalize(before.rpartition("/")[0]))
            if taken:
                names = "|".join(sorted(map(re.escape, taken)))
                converter.regex = rf"(?!(?:{names})\Z){converter.regex}"
            return converter

    return LiteralsFirst


@contextmanager
def literals_before_parameters(app: Flask, paths: Iterable[str]) -> Iterator[None]:
    """Register routes so that their parameters leave out the literal segments of `paths`."""
    usual, app.url_rule_class = app.url_rule_class, _build_rule(_find_literals(paths))
    try:
        yield
    finally:
        app.url_rule_class = usual
