"""What a source gives, and how it tells what it could not give."""

from dataclasses import dataclass, field
from typing import Any

from app.engines.fields import Field

MAX_WARNINGS = 500


@dataclass(frozen=True, slots=True)
class SourceWarning:
    """Something that was changed or left out. `path` is where it stood in the source."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class SourceSchema:
    """What was read. `fields` are in normal form (`app.engines.fields.check_fields`); `name` and
    `document_type` are None where the source has none.
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
    """A source that gives no schema.

    `path` is the culprit's, empty for the whole; `code` is one that a FieldError has; `warnings`
    tell what was left out, where nothing else was in it.
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
    """The warnings of one reading, each once and at most MAX_WARNINGS."""

    def __init__(self) -> None:
        self._found: dict[SourceWarning, None] = {}
        self._unlisted = 0

    def add(self, path: str, message: str) -> None:
        """Note what is changed or left out at `path`."""
        warning = SourceWarning(path, message)
        if warning in self._found:
            return
        if len(self._found) < MAX_WARNINGS:
            self._found[warning] = None
        else:
            self._unlisted += 1

    def listed(self) -> list[SourceWarning]:
        """All of them in their order; a last one counts those that are too many to list."""
        more = SourceWarning("", f"There are {self._unlisted:,} more warnings.")
        return [*self._found, *([more] if self._unlisted else [])]
