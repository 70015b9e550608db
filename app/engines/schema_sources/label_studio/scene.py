"""Provide what the controls of a configuration share: keys, warnings, target objects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from app.engines.fields import Field
from app.engines.fields.definition import MAX_FIELDS
from app.engines.schema_sources.model import Notes, SourceError
from app.engines.schema_sources.texts import Keys, to_description, to_line, to_title

TEXTS = frozenset({"Text", "HyperText", "Paragraphs", "Chat"})
PAGES = frozenset({"Image", "Pdf", "PDF"})
_LONGEST_PATH = 256
MANY = "The maximum number was left out."
RECORDINGS = frozenset({"Audio", "AudioPlus", "Video", "TimeSeries"})


@dataclass(slots=True)
class Scene:
    """The state of one import.

    `objects` maps the names of the tags that show something to their types; `labeled` contains the
    names of those on which a tag draws labels.
    """

    objects: Mapping[str, str]
    labeled: frozenset[str]
    notes: Notes = field(default_factory=Notes)
    fields: list[Field] = field(default_factory=list)
    keys: Keys = field(init=False)

    def __post_init__(self) -> None:
        self.keys = Keys(self.notes)

    def add(self, called: str, *, path: str, description: str = "", **members: object) -> None:
        """Add a field; its key is derived from its name in the source."""
        if len(self.fields) == MAX_FIELDS:
            raise SourceError("", f"contains more than {MAX_FIELDS} fields")
        new_field = {
            "key": self.keys.take(called, path=path, fallback="label"),
            "description": to_description(description, self.notes, path),
            **members,
        }
        self.fields.append(new_field)


@dataclass(frozen=True, slots=True)
class Control:
    """A tag with which users label, and its context.

    `header` is the heading before it; `conditional` is True if it is shown only under a condition.
    """

    element: Element
    header: str
    conditional: bool
    scene: Scene

    @property
    def path(self) -> str:
        """Return the path for warnings about the tag, for example `Choices[sentiment]`."""
        # Truncate first, because a tag may have thousands of options, and each computes the path.
        return f"{self.element.tag}[{to_line(self.name[:_LONGEST_PATH], 64)}]"

    @property
    def name(self) -> str:
        """Return the `name` attribute, or else the name of the tag."""
        return self.get("name") or self.element.tag

    @property
    def label(self) -> str:
        """Return the name in words; warn if it was truncated."""
        spaced = self.name.replace("_", " ").replace("-", " ")
        words = to_title(spaced, self.scene.notes, self.path)
        return words[:1].upper() + words[1:]

    @property
    def per_region(self) -> bool:
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

    def note(self, message: str) -> None:
        """Add a warning about the tag."""
        self.scene.notes.add(self.path, message)

    def required(self) -> bool:
        """Return whether every document needs a value."""
        if not self.is_true("required"):
            return False
        if self.per_region or self.conditional:
            self.note("The value is only required on a condition: the field is not required.")
            return False
        return True

    def add(self, kind: str, *, multiple: bool = False, **members: object) -> None:
        """Add the field of a tag that produces one field."""
        if self.per_region:
            self.note("The control is shown for each region: the field takes multiple values.")
        texts = [self.header, self.get("hint"), str(members.pop("description", ""))]
        self.scene.add(
            self.name,
            path=self.path,
            label=self.label,
            type=kind,
            required=self.required(),
            multiple=multiple or self.per_region,
            description="\n".join(text for text in texts if text),
            **members,
        )
