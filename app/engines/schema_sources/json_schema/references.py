"""Resolve a `$ref` to a location in the same source; nothing outside the source is loaded."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from app.engines.schema_sources.model import SchemaSourceError
from app.engines.schema_sources.texts import to_line

_ID_KEYWORDS = ("$id", "id")
_ANCHOR_KEYWORDS = ("$anchor", "$dynamicAnchor")
_ARRAY_INDEX = re.compile("[0-9]{1,7}")


class ReferenceResolver:
    """Finds the targets of the references in one source."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._base = _find_base_address(root)
        self._resources: dict[str, Mapping[str, Any]] | None = None
        self._anchors: dict[str, Mapping[str, Any]] = {}

    def find(self, ref: str, path: str) -> tuple[object, str]:
        """Find the target of `ref`, and return it with its path.

        Resolves pointers, anchors, and resources that are embedded with their `$id`. Raises
        SchemaSourceError, whose path begins with `path`, if the source does not contain the target.
        """
        if ref.startswith("#"):
            resource: object = self._root
            fragment, start = ref[1:], ""
        else:
            address, fragment = self._resolve_address(ref, path)
            resource = self._find_resource(address)
            start = to_line(address, 200)
        if resource is None:
            message = "points outside the document; references are never fetched"
            raise SchemaSourceError(f"{path}.$ref".lstrip("."), message)
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            self._get_resources()  # This also indexes the anchors.
            target: object = self._anchors.get(fragment)
            if target is None:
                raise _build_unresolved_error(path)
            return target, f"#{to_line(fragment, 64)}"
        return _resolve_pointer(resource, fragment, start, path)

    def _resolve_address(self, ref: str, path: str) -> tuple[str, str]:
        try:
            return urldefrag(urljoin(self._base, ref))
        except ValueError:
            raise _build_unresolved_error(path) from None

    def _find_resource(self, address: str) -> Mapping[str, Any] | None:
        if address == self._base:
            return self._root
        return self._get_resources().get(address)

    def _get_resources(self) -> dict[str, Mapping[str, Any]]:
        """Return the embedded schemas by address; index them and the anchors on first use."""
        if self._resources is not None:
            return self._resources
        self._resources = {}
        pending_nodes: list[object] = [self._root]
        while pending_nodes:
            node = pending_nodes.pop()
            if isinstance(node, dict):
                self._index_ids_and_anchors(node, self._resources)
                pending_nodes.extend(node.values())
            elif isinstance(node, list):
                pending_nodes.extend(node)
        return self._resources

    def _index_ids_and_anchors(
        self, node: dict[str, Any], resources: dict[str, Mapping[str, Any]]
    ) -> None:
        for name in (*_ID_KEYWORDS, *_ANCHOR_KEYWORDS):
            value = node.get(name)
            if not isinstance(value, str):
                continue
            if name in _ANCHOR_KEYWORDS:
                self._anchors.setdefault(value, node)
            elif value.startswith("#"):  # Up to draft 7, an id with only a fragment is an anchor.
                self._anchors.setdefault(value[1:], node)
            else:
                resources.setdefault(_join_address(self._base, value), node)


def _find_base_address(node: Mapping[str, Any]) -> str:
    for name in _ID_KEYWORDS:
        value = node.get(name)
        if isinstance(value, str) and not value.startswith("#"):
            return _join_address("", value)
    return ""


def _join_address(base: str, address: str) -> str:
    try:
        return urldefrag(urljoin(base, address))[0]
    except ValueError:
        return address


def _resolve_pointer(resource: object, pointer: str, start: str, path: str) -> tuple[object, str]:
    target, steps = resource, [start]
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, dict) and name in target:
            target = target[name]
        elif isinstance(target, list) and _ARRAY_INDEX.fullmatch(name) and int(name) < len(target):
            target = target[int(name)]
        else:
            raise _build_unresolved_error(path)
        steps.append(to_line(name, 64))
    return target, ".".join(filter(None, steps))


def _build_unresolved_error(path: str) -> SchemaSourceError:
    return SchemaSourceError(f"{path}.$ref".lstrip("."), "points to a location that does not exist")
