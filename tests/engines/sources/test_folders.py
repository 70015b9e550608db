"""Trees of folders: a stable order, in bounded memory, continued after a path."""

from collections.abc import Iterable
from typing import Any

import pytest

from app.engines.sources import limits
from app.engines.sources.folders import FolderItem, list_tree, sort_items
from app.engines.sources.model import HostError, HostErrorKind, ObjectMissing
from tests.engines.sources.reading import expect_error

Tree = dict[str, "Tree | None"]
TREE: Tree = {
    "b": None,
    "a": {"y": None, "x": {"deep": None}, "gone": {}},
    "a.txt": None,
    "c": {"z": None},
}


def read_folder(path: str) -> Iterable[FolderItem]:
    folder = TREE
    for name in path.split("/") if path else []:
        below = folder[name]
        assert below is not None
        folder = below
    if path == "a/gone":
        raise ObjectMissing
    return [FolderItem(name, below is not None, "1", 3, 0.5) for name, below in folder.items()]


@pytest.fixture(params=[2, 10_000], ids=["sorted on disk", "sorted in memory"])
def _sort_items(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_SORTED_ITEMS", request.param)


def _list_paths(*args: Any, **options: Any) -> list[str]:
    """Return the paths of the documents in a tree, without the positions between them."""
    return [path for path, item in list_tree(*args, **options) if item is not None]


PATHS = ["a/x/deep", "a/y", "a.txt", "b", "c/z"]


@pytest.mark.usefixtures("_sort_items")
def test_documents_are_sorted_by_folder_and_name() -> None:
    assert _list_paths(read_folder) == PATHS


@pytest.mark.usefixtures("_sort_items")
@pytest.mark.parametrize("position", range(len(PATHS)))
def test_a_listing_continues_after_a_path(position: int) -> None:
    after = PATHS[position]
    assert _list_paths(read_folder, after) == PATHS[position + 1 :]


class _OnlyA:
    def is_included(self, path: str) -> bool:
        return path.startswith("a")

    def may_contain(self, folder: str) -> bool:
        return folder.startswith("a")


def test_only_selected_folders_are_read() -> None:
    folders: list[str] = []

    def read(path: str) -> Iterable[FolderItem]:
        folders.append(path)
        return read_folder(path)

    assert _list_paths(read, path_filter=_OnlyA()) == PATHS[:3]
    assert folders == ["", "a", "a/gone", "a/x"]


def test_a_listing_continues_after_a_path_that_is_gone() -> None:
    assert _list_paths(read_folder, "a/x/other") == PATHS[1:]


def test_entries_sorted_on_disk_keep_all_they_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_SORTED_ITEMS", 7)
    items = [FolderItem(f"{n * 37 % 100:02}é", False, f"v{n}", n, n / 4) for n in range(100)]
    assert list(sort_items([*items, *items])) == sorted(items)


@pytest.mark.parametrize(("limit", "value"), [("MAX_SORT_FILES", 9), ("MAX_SORT_BYTES", 1000)])
def test_entries_on_disk_are_limited(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(limits, "MAX_SORTED_ITEMS", 2)
    items = [FolderItem(f"{n}", is_folder=False) for n in range(100)]
    assert len(list(sort_items(items))) == 100
    monkeypatch.setattr(limits, limit, value)
    with expect_error(HostErrorKind.PROTOCOL):
        sort_items(items)


def test_folders_without_end_are_an_error() -> None:
    with expect_error(HostErrorKind.PROTOCOL):
        list(list_tree(lambda _: [FolderItem("again", True)]))


def test_a_subfolder_that_may_not_be_read_is_skipped() -> None:
    items = {
        "": [FolderItem("a", is_folder=True), FolderItem("lost+found", is_folder=True)],
        "a": [FolderItem("b.txt", is_folder=False)],
    }

    def read_folder(path: str) -> Iterable[FolderItem]:
        if path not in items:
            raise HostError(HostErrorKind.NOT_ALLOWED, "No permission.")
        return items[path]

    assert _list_paths(read_folder) == ["a/b.txt"]
    del items[""]
    with pytest.raises(HostError, match="No permission"):
        list(list_tree(read_folder))


def test_a_listing_continues_after_every_position() -> None:
    listed = list(list_tree(read_folder, path_filter=_OnlyA()))
    positions = [path for path, item in listed if item is None]
    assert positions == ["a", "a/gone", "a/x", "b"]
    for number, (after, _) in enumerate(listed, 1):
        following = [path for path, item in listed[number:] if item is not None]
        assert _list_paths(read_folder, after, _OnlyA()) == following
