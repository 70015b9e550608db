"""Define the result of a schema import, its warnings and its error."""

from dataclasses import dataclass, field
from typing import Any

from app.engines.fields import Field
from app.engines.plurals import format_count

MAX_WARNINGS = 500


@dataclass(frozen=True, slots=True)
class SourceWarning:
    """A warning about a change or omission; `path` is its location in the source."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class SourceSchema:
    """The imported schema.

    `fields` are in normal form (`app.engines.fields.check_fields`); `name` and `document_type` are
    None if the source does not specify them.
    """

    fields: list[Field]
    warnings: list[SourceWarning]
    name: str | None = None
    document_type: str | None = None
    description: str = ""
    guidelines: str = ""
    review_policy: dict[str, Any] = field(default_factory=dict)
    required_skills: list[str] = field(default_factory=list)


class SchemaSourceError(ValueError):
    """The source cannot be imported.

    `path` locates the problem and is empty for the whole source; `code` is one of the codes of
    FieldError. If nothing in the source could become a field, `warnings` says what was left out.
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


class WarningCollector:
    """Collects the warnings of one import, without duplicates, up to MAX_WARNINGS."""

    def __init__(self) -> None:
        self._warnings: dict[SourceWarning, None] = {}
        self._omitted_count = 0

    def add(self, path: str, message: str) -> None:
        """Add a warning about a change or omission at `path`."""
        warning = SourceWarning(path, message)
        if warning in self._warnings:
            return
        if len(self._warnings) < MAX_WARNINGS:
            self._warnings[warning] = None
        else:
            self._omitted_count += 1

    def list_warnings(self) -> list[SourceWarning]:
        """Return the warnings; if any were omitted, the last warning states their number."""
        verb = "is" if self._omitted_count == 1 else "are"
        omitted_text = format_count(self._omitted_count, "more warning", "more warnings")
        last_warning = SourceWarning("", f"There {verb} {omitted_text}.")
        return [*self._warnings, *([last_warning] if self._omitted_count else [])]
