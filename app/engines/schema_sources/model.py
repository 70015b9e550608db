"""Define the results of an import and its warnings."""

from dataclasses import dataclass, field
from typing import Any

from app.engines.fields import Field

MAX_WARNINGS = 500


@dataclass(frozen=True, slots=True)
class SourceWarning:
    """A change or omission during the import; `path` is its place in the source."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class SourceSchema:
    """The imported schema.

    `fields` are in normal form (`app.engines.fields.check_fields`); `name` and `document_type` are
    None if the source has none.
    """

    fields: list[Field]
    warnings: list[SourceWarning]
    name: str | None = None
    document_type: str | None = None
    description: str = ""
    guidelines: str = ""
    review_policy: dict[str, Any] = field(default_factory=dict)
    required_skills: list[str] = field(default_factory=list)


class SourceError(ValueError):
    """A source that cannot be imported.

    `path` locates the problem and is empty for the whole source; `code` is one of the codes of
    FieldError; `warnings` explains what was left out if nothing remains.
    """

    def __init__(
        self,
        path: str,
        message: str,
        *,
        code: str = "validation_error",
        warnings: list[SourceWarning] | None = None,
    ) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message
        self.code = code
        self.warnings = warnings or []


class Notes:
    """The warnings of one import, without duplicates, at most MAX_WARNINGS."""

    def __init__(self) -> None:
        self._found: dict[SourceWarning, None] = {}
        self._unlisted = 0

    def add(self, path: str, message: str) -> None:
        """Add a warning about a change or omission at `path`."""
        warning = SourceWarning(path, message)
        if warning in self._found:
            return
        if len(self._found) < MAX_WARNINGS:
            self._found[warning] = None
        else:
            self._unlisted += 1

    def listed(self) -> list[SourceWarning]:
        """Return all warnings in order; the last one counts those beyond the limit."""
        more = SourceWarning("", f"There are {self._unlisted:,} more warnings.")
        return [*self._found, *([more] if self._unlisted else [])]
