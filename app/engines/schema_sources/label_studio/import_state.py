"""Provide the state that all controls of a configuration share: keys, warnings and objects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from app.engines.fields import Field
from app.engines.fields.definition import MAX_FIELDS
from app.engines.schema_sources.model import SchemaSourceError, WarningCollector
from app.engines.schema_sources.texts import KeyGenerator, to_description, to_line, to_title

TEXT_TAGS = frozenset({"Text", "HyperText", "Paragraphs", "Chat"})
PAGE_TAGS = frozenset({"Image", "Pdf", "PDF"})
_MAX_NAME_CHARS = 256
MAXIMUM_LEFT_OUT_MESSAGE = "The limit on the number of values is not supported and was left out."
RECORDING_TAGS = frozenset({"Audio", "AudioPlus", "Video", "TimeSeries"})


@dataclass(slots=True)
class ImportState:
    """The state of one import, which all controls share.

    Objects are the tags that show data. `object_types` maps their names to their types, such as
    `Image`. `labeled_names` contains the names of the objects to which a tag such as `Labels`
    refers.
    """

    object_types: Mapping[str, str]
    labeled_names: frozenset[str]
    collector: WarningCollector = field(default_factory=WarningCollector)
    fields: list[Field] = field(default_factory=list)
    keys: KeyGenerator = field(init=False)

    def __post_init__(self) -> None:
        self.keys = KeyGenerator(self.collector)

    def add_field(
        self, source_name: str, *, path: str, description: str = "", **definition: object
    ) -> None:
        """Add a field with a unique key, which is derived from `source_name`.

        Raises SchemaSourceError if there are already MAX_FIELDS fields.
        """
        if len(self.fields) == MAX_FIELDS:
            raise SchemaSourceError("", f"contains more than {MAX_FIELDS} fields")
        new_field = {
            "key": self.keys.create_key(source_name, path=path, fallback="label"),
            "description": to_description(description, self.collector, path),
            **definition,
        }
        self.fields.append(new_field)


@dataclass(frozen=True, slots=True)
class Control:
    """A tag with which users enter values, and its context.

    `header` is the heading before the tag; `is_conditional` is True if the tag is only shown under
    a condition.
    """

    element: Element
    header: str
    is_conditional: bool
    state: ImportState

    @property
    def path(self) -> str:
        """Return the path for warnings about the tag, for example `Choices[sentiment]`."""
        # Truncate first, because each option computes the path, and a tag may have thousands.
        return f"{self.element.tag}[{to_line(self.name[:_MAX_NAME_CHARS], 64)}]"

    @property
    def name(self) -> str:
        """Return the `name` attribute, or the name of the XML element if there is none."""
        return self.get("name") or self.element.tag

    @property
    def label(self) -> str:
        """Return the name as words; add a warning if the name was truncated."""
        name = self.name.replace("_", " ").replace("-", " ")
        words = to_title(name, self.state.collector, self.path)
        return words[:1].upper() + words[1:]

    @property
    def is_per_region(self) -> bool:
        """Return whether the tag is repeated for each drawn region or each item of a list."""
        return self.is_true("perRegion") or self.is_true("perItem")

    @property
    def target_types(self) -> set[str]:
        """Return the types of the objects that the tag refers to, for example `Image`."""
        names = [name.strip() for name in self.get("toName").split(",")]
        return {self.state.object_types[name] for name in names if name in self.state.object_types}

    def get(self, name: str) -> str:
        """Return an attribute without surrounding spaces, or an empty string if it is absent."""
        return self.element.get(name, "").strip()

    def is_true(self, name: str) -> bool:
        """Return whether the attribute `name` is `true`."""
        return self.get(name).lower() == "true"

    def add_warning(self, message: str) -> None:
        """Add a warning about the tag."""
        self.state.collector.add(self.path, message)

    def resolve_required(self) -> bool:
        """Return whether the field is required; warn if it is only required under a condition."""
        if not self.is_true("required"):
            return False
        if self.is_per_region or self.is_conditional:
            self.add_warning(
                "The value is only required under a condition: the field is not required."
            )
            return False
        return True

    def add_field(self, field_type: str, *, multiple: bool = False, **definition: object) -> None:
        """Add one field for the tag, with the heading and the hint in the field's description."""
        if self.is_per_region:
            self.add_warning(
                "The control is shown for each region: the field takes multiple values."
            )
        parts = [self.header, self.get("hint"), str(definition.pop("description", ""))]
        self.state.add_field(
            self.name,
            path=self.path,
            label=self.label,
            type=field_type,
            required=self.resolve_required(),
            multiple=multiple or self.is_per_region,
            description="\n".join(part for part in parts if part),
            **definition,
        )
