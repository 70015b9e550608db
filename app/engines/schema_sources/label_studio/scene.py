"""Provide the state that the controls of a configuration share: keys, warnings and objects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from app.engines.fields import Field
from app.engines.fields.definition import MAX_FIELDS
from app.engines.schema_sources.model import Notes, SourceError
from app.engines.schema_sources.texts import Keys, to_description, to_line, to_title

TEXT_TAGS = frozenset({"Text", "HyperText", "Paragraphs", "Chat"})
PAGE_TAGS = frozenset({"Image", "Pdf", "PDF"})
_MAX_NAME_CHARS = 256
MAXIMUM_LEFT_OUT = "The maximum number of values was left out."
RECORDING_TAGS = frozenset({"Audio", "AudioPlus", "Video", "TimeSeries"})


@dataclass(slots=True)
class Scene:
    """The state of one import.

    `objects` maps the names of the tags that show data to their types; `labeled_names` contains the
    names of the objects on which a tag draws labels.
    """

    objects: Mapping[str, str]
    labeled_names: frozenset[str]
    notes: Notes = field(default_factory=Notes)
    fields: list[Field] = field(default_factory=list)
    keys: Keys = field(init=False)

    def __post_init__(self) -> None:
        self.keys = Keys(self.notes)

    def add_field(
        self, source_name: str, *, path: str, description: str = "", **definition: object
    ) -> None:
        """Add a field; its key is derived from its name in the source."""
        if len(self.fields) == MAX_FIELDS:
            raise SourceError("", f"contains more than {MAX_FIELDS} fields")
        new_field = {
            "key": self.keys.create_key(source_name, path=path, fallback="label"),
            "description": to_description(description, self.notes, path),
            **definition,
        }
        self.fields.append(new_field)


@dataclass(frozen=True, slots=True)
class Control:
    """A tag with which users label, and its context.

    `header` is the heading before the tag; `is_conditional` is True if the tag is only shown under
    a condition.
    """

    element: Element
    header: str
    is_conditional: bool
    scene: Scene

    @property
    def path(self) -> str:
        """Return the path for warnings about the tag, for example `Choices[sentiment]`."""
        # Truncate first, because each option computes the path, and a tag may have thousands.
        return f"{self.element.tag}[{to_line(self.name[:_MAX_NAME_CHARS], 64)}]"

    @property
    def name(self) -> str:
        """Return the `name` attribute, or else the name of the tag."""
        return self.get("name") or self.element.tag

    @property
    def label(self) -> str:
        """Return the name in words; warn if it was truncated."""
        name = self.name.replace("_", " ").replace("-", " ")
        words = to_title(name, self.scene.notes, self.path)
        return words[:1].upper() + words[1:]

    @property
    def is_per_region(self) -> bool:
        """Return whether the tag is repeated for each drawn region or each item of a list."""
        return self.is_true("perRegion") or self.is_true("perItem")

    @property
    def targets(self) -> set[str]:
        """Return the types of the objects that the tag refers to, for example `Image`."""
        names = [name.strip() for name in self.get("toName").split(",")]
        return {self.scene.objects[name] for name in names if name in self.scene.objects}

    def get(self, name: str) -> str:
        """Return an attribute without surrounding spaces; empty if absent."""
        return self.element.get(name, "").strip()

    def is_true(self, name: str) -> bool:
        """Return whether the attribute `name` is `true`."""
        return self.get(name).lower() == "true"

    def add_warning(self, message: str) -> None:
        """Add a warning about the tag."""
        self.scene.notes.add(self.path, message)

    def is_required(self) -> bool:
        """Return whether every document needs a value."""
        if not self.is_true("required"):
            return False
        if self.is_per_region or self.is_conditional:
            self.add_warning(
                "The value is only required under a condition: the field is not required."
            )
            return False
        return True

    def add_field(self, field_type: str, *, multiple: bool = False, **definition: object) -> None:
        """Add the field of a tag that produces one field."""
        if self.is_per_region:
            self.add_warning(
                "The control is shown for each region: the field takes multiple values."
            )
        texts = [self.header, self.get("hint"), str(definition.pop("description", ""))]
        self.scene.add_field(
            self.name,
            path=self.path,
            label=self.label,
            type=field_type,
            required=self.is_required(),
            multiple=multiple or self.is_per_region,
            description="\n".join(text for text in texts if text),
            **definition,
        )
