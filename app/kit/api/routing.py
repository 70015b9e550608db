"""Routing that prefers routes with a literal segment to routes with a parameter.

If the literal route does not accept the method, werkzeug also tries routes with parameters. Then
`GET /artifacts/bulk-assign` would look up a record `bulk-assign` (404), and `Allow` would list the
methods of both routes. With this module, a parameter never matches a literal segment of another
route in the same position, so that such a request gets 405 with the methods of its own path.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from flask import Flask
from werkzeug.routing import BaseConverter, Rule

_PARAMETER = re.compile(r"{\w+}|<[^>]+>")


def _normalize_path(path: str) -> str:
    """Return the path with `{}` for each parameter."""
    return _PARAMETER.sub("{}", path)


def _find_literals(paths: Iterable[str]) -> dict[str, set[str]]:
    """Map each normalized path prefix to the literal segments that follow it in `paths`."""
    literals: dict[str, set[str]] = defaultdict(set)
    for path in paths:
        segments = _normalize_path(path).split("/")
        for index, segment in enumerate(segments):
            if segment != "{}":
                literals["/".join(segments[:index])].add(segment)
    return literals


def _build_rule_class(literals: Mapping[str, set[str]]) -> type[Rule]:
    class LiteralFirstRule(Rule):
        """A rule whose parameters match no literal segment of another rule in the same position."""

        def get_converter(
            self,
            variable_name: str,
            converter_name: str,
            args: tuple[object, ...],
            kwargs: Mapping[str, object],
        ) -> BaseConverter:
            converter = super().get_converter(variable_name, converter_name, args, kwargs)
            preceding_path, _, _ = self.rule.partition(f":{variable_name}>")
            excluded_segments = literals.get(_normalize_path(preceding_path.rpartition("/")[0]))
            if excluded_segments:
                names = "|".join(sorted(map(re.escape, excluded_segments)))
                converter.regex = rf"(?!(?:{names})\Z){converter.regex}"
            return converter

    return LiteralFirstRule


@contextmanager
def prefer_literals(app: Flask, paths: Iterable[str]) -> Iterator[None]:
    """Make all routes that are added to `app` in a `with` block prefer literal segments.

    A parameter of such a route never matches a literal segment of `paths` in the same position.
    """
    old_class, app.url_rule_class = app.url_rule_class, _build_rule_class(_find_literals(paths))
    try:
        yield
    finally:
        app.url_rule_class = old_class
