"""A model of a document and its tag sets, with the rules that determine the API's responses."""

from dataclasses import dataclass, field

from app.documents.artifacts.statuses import CLAIMABLE
from app.workflow.tag_sets.transitions import COMPLETED, TRANSITIONS, Action

REQUIRED_LABELS, MAX_REJECTIONS = 2, 1
COUNTED = COMPLETED


@dataclass
class ModelTagSet:
    """A tag set; times are ticks of the test's clock.

    `revisions` has (kind, value) of each revision. `is_returned` means returned to the labeler with
    a reason, and `is_begun` means saved with tags and not released since; both reserve the document
    for the labeler. `earlier_rejections` counts the rejections of the labeler's previous tag sets.
    """

    id: str
    labeler: str
    created: int
    decided: int = 0
    value: str | None = None
    status: str = "draft"
    rejections: int = 0
    earlier_rejections: int = 0
    is_returned: bool = False
    is_begun: bool = False
    submitted: bool = False
    reviewer: str | None = None
    revisions: list[tuple[str, str | None]] = field(default_factory=list)

    def allows(self, action: Action) -> bool:
        """Return whether the status allows an action."""
        return self.status in TRANSITIONS[action].sources

    def note(self, kind: str) -> None:
        self.revisions.append((kind, self.value))

    @property
    def since(self) -> int:
        """Return the time after which a skip applies to this draft."""
        return max(self.created, self.decided)

    @property
    def is_at_rejection_limit(self) -> bool:
        """Return whether it cannot be returned to its labeler again."""
        return self.rejections + self.earlier_rejections >= MAX_REJECTIONS

    @property
    def revision(self) -> int:
        return len(self.revisions)


@dataclass
class Document:
    """A document; `update_status` updates the members that depend on its tag sets."""

    status: str = "ready"
    archived: bool = False
    claimed_by: str | None = None
    labeled_by: list[str] = field(default_factory=list)
    reserved_for: list[str] = field(default_factory=list)
    tag_sets: list[ModelTagSet] = field(default_factory=list)
    skips: dict[str, int] = field(default_factory=dict)
    rejected_labelers: set[str] = field(default_factory=set)
    removed_members: set[str] = field(default_factory=set)

    def list_by(self, who: str, *states: str) -> list[ModelTagSet]:
        return [
            tag_set
            for tag_set in self.tag_sets
            if tag_set.labeler == who and tag_set.status in states
        ]

    def count(self, *states: str) -> int:
        return sum(tag_set.status in states for tag_set in self.tag_sets)

    def has_skipped(self, who: str, since: int) -> bool:
        return self.skips.get(who, -1) > since

    def update_status(self) -> None:
        self.labeled_by = [
            tag_set.labeler for tag_set in self.tag_sets if tag_set.status in COUNTED
        ]
        self.reserved_for = [
            tag_set.labeler
            for tag_set in self.tag_sets
            if tag_set.status == "draft"
            and (tag_set.is_returned or tag_set.is_begun)
            and tag_set.labeler not in self.removed_members
            and not self.has_skipped(tag_set.labeler, tag_set.since)
        ]
        if self.count("accepted") >= REQUIRED_LABELS:
            self.status = "done"
        elif (
            not self.count("draft")
            and self.count("submitted")
            and self.count(*COUNTED) >= REQUIRED_LABELS
        ):
            self.status = "in_review"
        elif self.count("draft", *COUNTED) or self.claimed_by:
            self.status = "in_progress"
        else:
            self.status = "ready"

    def delete_skip(self, who: str) -> bool:
        """Delete the skip of a user, and return whether there was one."""
        had = who in self.skips or who in self.rejected_labelers
        self.skips.pop(who, None)
        self.rejected_labelers.discard(who)
        return had

    def has_finished(self, who: str) -> bool:
        """Return whether the user has labeled the document and has no draft of it."""
        return who in self.labeled_by and not self.list_by(who, "draft")

    def is_blocked_for(self, who: str) -> bool:
        """Return whether drafts of others reserve the last required tag set."""
        reserved = [one for one in self.reserved_for if one != who]
        return bool(reserved) and len(self.labeled_by) + len(reserved) >= REQUIRED_LABELS

    def needs_tag_set_of(self, who: str) -> bool:
        """Return whether another tag set is required and the user has submitted none."""
        reserved = [one for one in self.reserved_for if one != who]
        return who not in self.labeled_by and len(self.labeled_by) + len(reserved) < REQUIRED_LABELS

    def can_claim_next(self, who: str) -> bool:
        """Return whether the user can claim it as the next document."""
        if self.archived or self.status not in CLAIMABLE:
            return False
        own = self.list_by(who, "draft")
        if self.claimed_by is not None:
            return self.claimed_by == who and (bool(own) or self.needs_tag_set_of(who))
        if own and not self.has_skipped(who, own[0].since):
            return who in self.reserved_for or not self.is_blocked_for(who)
        return (
            self.needs_tag_set_of(who)
            and who not in self.skips
            and who not in self.rejected_labelers
        )
