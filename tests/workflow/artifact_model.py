"""A model of a document and its tag sets, with the rules that determine the API's responses."""

from dataclasses import dataclass, field

from app.workflow.tag_sets.transitions import COMPLETED, TRANSITIONS, Action

WANTED, MAX_REJECTIONS = 2, 1
OPEN, STANDING = ("ready", "in_progress"), COMPLETED


@dataclass
class Labels:
    """A tag set; times are ticks of the test's clock.

    `kept` has (kind, value) of each revision. `handed` means returned to the labeler with a reason,
    and `begun` means saved with tags and not released since; both reserve the document for the
    labeler. `earlier` is the number of rejections of the labeler's previous tag sets.
    """

    id: str
    labeler: str
    created: int
    decided: int = 0
    value: str | None = None
    status: str = "draft"
    rejections: int = 0
    earlier: int = 0
    handed: bool = False
    begun: bool = False
    submitted: bool = False
    reviewer: str | None = None
    kept: list[tuple[str, str | None]] = field(default_factory=list)

    def allows(self, action: Action) -> bool:
        """Return whether the status allows an action."""
        return self.status in TRANSITIONS[action].sources

    def note(self, kind: str) -> None:
        self.kept.append((kind, self.value))

    @property
    def since(self) -> int:
        """Return the time after which a skip applies to this draft."""
        return max(self.created, self.decided)

    @property
    def spent(self) -> bool:
        """Return whether it cannot be returned to its labeler again."""
        return self.rejections + self.earlier >= MAX_REJECTIONS

    @property
    def revision(self) -> int:
        return len(self.kept)


@dataclass
class Document:
    """A document; `follow` updates the members that depend on its tag sets."""

    status: str = "ready"
    archived: bool = False
    holder: str | None = None
    labeled_by: list[str] = field(default_factory=list)
    reserved_for: list[str] = field(default_factory=list)
    sets: list[Labels] = field(default_factory=list)
    skips: dict[str, int] = field(default_factory=dict)
    passed_over: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)

    def of(self, who: str, *states: str) -> list[Labels]:
        return [one for one in self.sets if one.labeler == who and one.status in states]

    def count(self, *states: str) -> int:
        return sum(one.status in states for one in self.sets)

    def skipped(self, who: str, since: int) -> bool:
        return self.skips.get(who, -1) > since

    def follow(self) -> None:
        self.labeled_by = [one.labeler for one in self.sets if one.status in STANDING]
        self.reserved_for = [
            one.labeler
            for one in self.sets
            if one.status == "draft"
            and (one.handed or one.begun)
            and one.labeler not in self.gone
            and not self.skipped(one.labeler, one.since)
        ]
        if self.count("accepted") >= WANTED:
            self.status = "done"
        elif (
            not self.count("draft") and self.count("submitted") and self.count(*STANDING) >= WANTED
        ):
            self.status = "in_review"
        elif self.count("draft", *STANDING) or self.holder:
            self.status = "in_progress"
        else:
            self.status = "ready"

    def unskip(self, who: str) -> bool:
        """Delete the skip of a user, and return whether there was one."""
        had = who in self.skips or who in self.passed_over
        self.skips.pop(who, None)
        self.passed_over.discard(who)
        return had

    def finished_by(self, who: str) -> bool:
        """Return whether the user has labeled the document and has no draft of it."""
        return who in self.labeled_by and not self.of(who, "draft")

    def kept_from(self, who: str) -> bool:
        """Return whether drafts of others reserve the last required tag set."""
        reserved = [one for one in self.reserved_for if one != who]
        return bool(reserved) and len(self.labeled_by) + len(reserved) >= WANTED

    def wants(self, who: str) -> bool:
        """Return whether another tag set is required and the user has submitted none."""
        reserved = [one for one in self.reserved_for if one != who]
        return who not in self.labeled_by and len(self.labeled_by) + len(reserved) < WANTED

    def drawn_by(self, who: str) -> bool:
        """Return whether the user can claim it as the next document."""
        if self.archived or self.status not in OPEN:
            return False
        own = self.of(who, "draft")
        if self.holder is not None:
            return self.holder == who and (bool(own) or self.wants(who))
        if own and not self.skipped(who, own[0].since):
            return who in self.reserved_for or not self.kept_from(who)
        return self.wants(who) and who not in self.skips and who not in self.passed_over
