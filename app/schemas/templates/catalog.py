"""The catalog of schema templates: the TOML files in `data`, loaded once on first use."""

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
    """A starting point for a schema. `fields` are normalized, `guidelines` are Markdown."""

    id: str
    name: str
    industry: str
    document_type: str
    description: str
    guidelines: str
    fields: list[Field]

    @property
    def field_count(self) -> int:
        """The number of fields; a table counts as one."""
        return len(self.fields)


@cache
def load_templates() -> Mapping[str, Template]:
    """Return all templates by id, ordered by id."""
    loaded = [load_template(path) for path in sorted(DATA_DIR.glob("*.toml"))]
    return {template.id: template for template in loaded}


def load_template(path: Path) -> Template:
    """Load the template from a file. Raises TypeError or FieldError if it is not valid."""
    properties = tomllib.loads(path.read_text(encoding="utf-8"))
    return Template(**{**properties, "fields": check_fields(properties["fields"])})
