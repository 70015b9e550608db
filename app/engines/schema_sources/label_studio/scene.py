"""What the controls of a configuration share: keys, warnings, the objects they point at."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from app.engines.fields import Field
from app.engines.fields.definition import MAX_FIELDS
from app.engines.schema_sources.model import Notes, SourceError
from app.engines.schema_sources.texts import Keys, described, line, titled

TEXTS = frozenset({"Text", "HyperText", "Paragraphs", "Chat"})
PAGES = frozenset({"Image", "Pdf", "PDF"})
_LONGEST_PATH = 256
MANY = "How many there may be at most was left out."
RECORDINGS = frozenset({"Audio", "AudioPlus", "Video", "TimeSeries"})


@dataclass(slots=True)
class Scene:
    """`objects` are the tags that show something, by name; `labeled` the names of those that some
    tag draws labels on.
    """

    objects: Mapping[str, str]
    labeled: frozenset[str]
    notes: Notes = field(default_factory=Notes)
    fields: list[Field] = field(default_factory=list)
    keys: Keys = field(init=False)

    def __post_init__(self) -> None:
        self.keys = Keys(self.notes)

    def add(self, called: str, *, path: str, description: str = "", **members: object) -> None:
        """A field called what the source calls it, which becomes its key."""
        if len(self.fields) == MAX_FIELDS:
            raise SourceError("", f"gives more than {MAX_FIELDS} fields")
        made = {
            "key": self.keys.take(called, path=path, fallback="label"),
            "description": described(description, self.notes, path),
            **members,
        }
        self.fields.append(made)


@dataclass(frozen=True, slots=True)
class Control:
    """A tag that somebody labels with, and what is around it.

    `header` is the heading before it; `conditional`: shown only on a condition.
    """

    element: Element
    header: str
    conditional: bool
    scene: Scene

    @property
    def path(self) -> str:
        """Where a warning about it belongs: `Choices[sentiment]`."""
        # Cut first: it is made again for each of thousands of options.
        return f"{self.element.tag}[{line(self.name[:_LONGEST_PATH], 64)}]"

    @property
    def name(self) -> str:
        """Its `name`, or else the tag's."""
        return self.get("name") or self.element.tag

    @property
    def label(self) -> str:
        """Its name in words; a warning where it had to be cut."""
        spaced = self.name.replace("_", " ").replace("-", " ")
        words = titled(spaced, self.scene.notes, self.path)
        return words[:1].upper() + words[1:]

    @property
    def per_region(self) -> bool:
        """Asked anew for each region that is drawn, or for each item of a list."""
        return self.says("perRegion") or self.says("perItem")

    @property
    def targets(self) -> set[str]:
        """The kinds of objects it points at: tags such as `Image`."""
        names = [name.strip() for name in self.get("toName").split(",")]
        return {self.scene.objects[name] for name in names if name in self.scene.objects}

    def get(self, name: str) -> str:
        """An attribute, trimmed; empty without."""
        return self.element.get(name, "").strip()

    def says(self, name: str) -> bool:
        """Whether an attribute is `true`."""
        return self.get(name).lower() == "true"

    def note(self, message: str) -> None:
        """Warn about the tag."""
        self.scene.notes.add(self.path, message)

    def required(self) -> bool:
        """Whether every document needs it."""
        if not self.says("required"):
            return False
        if self.per_region or self.conditional:
            self.note("It is required only on a condition: the field is not required.")
            return False
        return True

    def add(self, kind: str, *, multiple: bool = False, **members: object) -> None:
        """The field of a tag that gives one."""
        if self.per_region:
            self.note("It is asked for each region: here the field takes many values.")
        told = [self.header, self.get("hint"), str(members.pop("description", ""))]
        self.scene.add(
            self.name,
            path=self.path,
            label=self.label,
            type=kind,
            required=self.required(),
            multiple=multiple or self.per_region,
            description="\n".join(text for text in told if text),
            **members,
        )
