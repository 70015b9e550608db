"""Compare the fields of two schema versions, and mark breaking changes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from app.engines.fields.model import Field

_COMPARED_PROPERTIES = ("label", "required", "multiple", "description", "constraints", "ai_assist")


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One difference between the fields of two schema versions.

    `key` is the field's key, or `table.column`. `what` is the name of the property that differs,
    and `before` and `after` are its values. If a field or column was added or removed, `what` is
    `field` or `column`, one of `before` and `after` is its definition, and the other is None.
    """

    kind: Literal["added", "removed", "changed"]
    key: str
    breaking: bool
    what: str
    before: object = None
    after: object = None

    def as_dict(self) -> dict[str, Any]:
        """Return the change as a JSON object, in which `from` is `before` and `to` is `after`."""
        return {
            "kind": self.kind,
            "key": self.key,
            "breaking": self.breaking,
            "what": self.what,
            "from": self.before,
            "to": self.after,
        }


def compare(old_fields: Sequence[Field], new_fields: Sequence[Field]) -> list[FieldChange]:
    """Compare two field lists in normal form, and return the changes.

    Removed fields come first, and then all other changes in the order of the new list.

    A change is breaking if a field is removed, its type changes, it becomes required or is added as
    required, an option is removed, or multiple values are no longer allowed. The same applies to
    table columns.
    """
    return list(_list_changes(old_fields, new_fields, ""))


def _list_changes(old: Iterable[Field], new: Iterable[Field], prefix: str) -> Iterator[FieldChange]:
    element_type = "column" if prefix else "field"
    before = {field["key"]: field for field in old}
    after = {field["key"]: field for field in new}
    for key, field in before.items():
        if key not in after:
            yield FieldChange(
                "removed", prefix + key, breaking=True, what=element_type, before=field
            )
    for key, field in after.items():
        if key not in before:
            is_required = bool(field.get("required"))
            yield FieldChange(
                "added", prefix + key, breaking=is_required, what=element_type, after=field
            )
        else:
            yield from _list_property_changes(before[key], field, prefix + key)


def _list_property_changes(old: Field, new: Field, key: str) -> Iterator[FieldChange]:
    if old["type"] != new["type"]:
        yield FieldChange(
            "changed", key, breaking=True, what="type", before=old["type"], after=new["type"]
        )
    for what in _COMPARED_PROPERTIES:
        before, after = old.get(what), new.get(what)
        if before != after:
            breaking = (what == "required" and bool(after)) or (what == "multiple" and not after)
            yield FieldChange(
                "changed", key, breaking=breaking, what=what, before=before, after=after
            )
    if old["type"] != new["type"]:
        return
    old_options, new_options = (list(field.get("options") or []) for field in (old, new))
    if old_options != new_options:
        removed_values = {option["value"] for option in old_options} - {
            option["value"] for option in new_options
        }
        yield FieldChange(
            "changed",
            key,
            breaking=bool(removed_values),
            what="options",
            before=old_options,
            after=new_options,
        )
    yield from _list_changes(old.get("columns") or [], new.get("columns") or [], f"{key}.")
