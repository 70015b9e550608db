"""The templates: a TOML file each, in `data`, read once when they are first asked for."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.engines.fields import Field, check_fields

DATA = Path(__file__).parent / "data"
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
    """What a schema can begin with. `fields` are in normal form, `guidelines` Markdown."""

    id: str
    name: str
    industry: str
    document_type: str
    description: str
    guidelines: str
    fields: list[Field]

    @property
    def field_count(self) -> int:
        """How many fields it has, a table counted once."""
        return len(self.fields)


@cache
def templates() -> Mapping[str, Template]:
    """All of them by id, in the order of their ids."""
    found = [load(path) for path in sorted(DATA.glob("*.toml"))]
    return {template.id: template for template in found}


def load(path: Path) -> Template:
    """Return the template in a file. Raises TypeError or FieldError if there is none."""
    members = tomllib.loads(path.read_text(encoding="utf-8"))
    return Template(**{**members, "fields": check_fields(members["fields"])})
