"""The schema templates. They are loaded from the TOML files in `data` on first use."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.engines.fields import Field, check_fields

DATA_DIR = Path(__file__).parent / "data"
INDUSTRIES = (
    "finance",
    "healthcare",
    "human_resources",
    "identity",
    "insurance",
    "legal",
    "logistics",
    "real_estate",
    "tax",
    "utilities",
)


@dataclass(frozen=True, slots=True)
class Template:
    """A schema template. `fields` are normalized; `guidelines` are in Markdown."""

    id: str
    name: str
    industry: str
    document_type: str
    description: str
    guidelines: str
    fields: list[Field]

    @property
    def field_count(self) -> int:
        """Return the number of fields; a table counts as one field."""
        return len(self.fields)


@cache
def load_templates() -> Mapping[str, Template]:
    """Load all templates and return them by id, in the order of their file names."""
    templates = [load_template(path) for path in sorted(DATA_DIR.glob("*.toml"))]
    return {template.id: template for template in templates}


def load_template(path: Path) -> Template:
    """Load a template from a TOML file.

    Raises TOMLDecodeError, KeyError, TypeError or FieldError if the file is invalid.
    """
    properties = tomllib.loads(path.read_text(encoding="utf-8"))
    return Template(**{**properties, "fields": check_fields(properties["fields"])})
