"""Write a JSON array of tasks with annotations, which Label Studio can import.

Source: https://labelstud.io/guide/tasks, and the documentation of Label Studio's control tags.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from app.engines.formats import label_studio_config as config
from app.engines.formats.json_array import JsonArrayWriter
from app.engines.formats.labels import build_column_map
from app.engines.formats.model import Fields, Format, Options, Row
from app.engines.formats.parsing import ParsingWriter, dump_json
from app.engines.formats.sample import SAMPLE_ROW, render_sample

_NON_BMP = re.compile("[\U00010000-\U0010ffff]")

_OPTIONS: dict[str, Any] = {
    "results": {
        "enum": ["annotations", "predictions"],
        "default": "annotations",
        "description": (
            "How to write the tags. annotations: as finished annotations. predictions: as "
            "suggestions that annotators in Label Studio accept or change."
        ),
    },
    "labeling_config": {
        "type": "boolean",
        "default": True,
        "description": (
            "Write a labeling configuration for the project into the first task, as "
            "`meta.labeling_config`."
        ),
    },
}


class LabelStudioWriter(ParsingWriter):
    """A writer that converts each tag set to one Label Studio task."""

    def __init__(self, out: BinaryIO, fields: Fields, options: Options) -> None:
        super().__init__()
        self._array = JsonArrayWriter(out)
        self._table_keys = {field["key"] for field in fields if field["type"] == "table"}
        self._columns = build_column_map(fields)
        self._choices = {
            name: frozenset(config.list_choices(field)) for name, field in self._columns.items()
        }
        self._results_option = options.get("results", "annotations")
        self._includes_config = options.get("labeling_config", True)

    def _write_row(self, row: Row) -> None:
        task: dict[str, Any] = {"data": _build_data(row)}
        if self._includes_config and not self.row_count:
            task["meta"] = {"labeling_config": config.build_config(self._columns)}
        results = self._build_results(row)
        if self._results_option == "predictions":
            task["predictions"] = [{"model_version": row.get("source"), "result": results}]
        else:
            gold = bool((row.get("artifact") or {}).get("gold"))
            task["annotations"] = [{"ground_truth": gold, "result": results}]
        self._array.write_json(dump_json(task).encode())

    def _finish(self) -> None:
        self._array.close()

    def _build_results(self, row: Row) -> list[dict[str, Any]]:
        """Build the results for text spans, and then the results for values without a text span."""
        text = row.get("text") or ""
        non_bmp_indexes = [match.start() for match in _NON_BMP.finditer(text)]
        spans: list[dict[str, Any]] = []
        values: dict[str, list[Any]] = {}
        for tag_index, tag in enumerate(_iterate_tags(row, self._table_keys)):
            name, value = tag["field"], tag.get("value")
            offsets = _list_offsets(tag, text) if name in self._columns else []
            spans += [
                _build_span_result(tag, span_offsets, tag_index, text, non_bmp_indexes)
                for span_offsets in offsets
            ]
            if not offsets and value is not None:
                values.setdefault(name, []).append(value)
        results = spans + self._build_value_results(values)
        id_prefix = row.get("tag_set_id") or self.row_count
        return [{"id": f"{id_prefix}-{index}", **result} for index, result in enumerate(results)]

    def _build_value_results(self, values: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
        """Build the results for values without a text span, one result for each control."""
        results: list[dict[str, Any]] = []
        other_texts: list[str] = []
        for name, items in values.items():
            texts = [_convert_to_text(item) for item in items]
            choices = self._choices.get(name)
            if choices is None or (choices and not choices.issuperset(texts)):
                other_texts += [f"{name}: {text}" for text in texts]
            elif choices:
                results.append(_build_value_result(name, "choices", list(dict.fromkeys(texts))))
            else:
                results.append(_build_value_result(name, "textarea", texts))
        if other_texts:
            results.append(_build_value_result(config.OTHER, "textarea", other_texts))
        return results


def _build_data(row: Row) -> dict[str, Any]:
    artifact, schema = row.get("artifact") or {}, row.get("schema") or {}
    return {
        "text": row.get("text") or "",
        "name": artifact.get("name"),
        "external_id": artifact.get("external_id"),
        "language": artifact.get("language"),
        "artifact_id": artifact.get("id"),
        "tag_set_id": row.get("tag_set_id"),
        "status": row.get("status"),
        "schema": schema.get("name"),
        "schema_version": schema.get("version"),
    }


def _iterate_tags(row: Row, table_keys: Collection[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the row's tags, or tags built from its labels if the row has no tags.

    A row has no tags if the export's `include.evidence` is off.
    """
    if row.get("tags") is not None:
        yield from row["tags"]
        return
    for key, label in (row.get("labels") or {}).items():
        if key not in table_keys:
            yield from ({"field": key, "value": item} for item in _wrap_in_list(label))
            continue
        for item in _wrap_in_list(label):
            for column, cell in item.items() if isinstance(item, Mapping) else ():
                yield from ({"field": f"{key}.{column}", "value": v} for v in _wrap_in_list(cell))


def _wrap_in_list(label: object) -> list[Any]:
    return label if isinstance(label, list) else [label]


def _list_offsets(tag: Mapping[str, Any], text: str) -> list[tuple[int, int]]:
    """Return the offsets of a tag's evidence that are within the text, without duplicates."""
    offsets = [(piece.get("start"), piece.get("end")) for piece in tag.get("evidence") or ()]
    return list(
        dict.fromkeys(
            (start, end)
            for start, end in offsets
            if start is not None and end is not None and 0 <= start < end <= len(text)
        )
    )


def _build_span_result(
    tag: Mapping[str, Any],
    offsets: tuple[int, int],
    tag_index: int,
    text: str,
    non_bmp_indexes: Sequence[int],
) -> dict[str, Any]:
    """Build the result for a text span.

    The offsets are converted from code points to UTF-16 code units, which Label Studio counts.
    """
    start, end = offsets
    meta = {"text": [_convert_to_text(tag.get("value"))], "tag": tag_index, "row": tag.get("row")}
    result: dict[str, Any] = {
        "from_name": config.LABEL,
        "to_name": config.TEXT,
        "type": "labels",
        "value": {
            "start": start + bisect_left(non_bmp_indexes, start),
            "end": end + bisect_left(non_bmp_indexes, end),
            "text": text[start:end],
            "labels": [tag["field"]],
        },
        "meta": meta,
    }
    if tag.get("confidence") is not None:
        result["score"] = tag["confidence"]
    return result


def _build_value_result(name: str, type_: str, texts: list[str]) -> dict[str, Any]:
    key = "choices" if type_ == "choices" else "text"
    return {"from_name": name, "to_name": config.TEXT, "type": type_, "value": {key: texts}}


def _convert_to_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, Mapping) and value.keys() == {"amount", "currency"}:
        return " ".join(str(part) for part in value.values() if part is not None)
    return dump_json(value)


def _render_sample() -> str:
    """Return the file for the example tag set, with evidence for one text span."""
    evidence = [{"page": 1, "box": None, "start": 8, "end": 15, "text": "RE-1042"}]
    tags = [
        {"field": "invoice_number", "value": "RE-1042", "row": None, "evidence": evidence},
        {"field": "total", "value": SAMPLE_ROW["labels"]["total"], "row": None},
    ]
    row = {**SAMPLE_ROW, "text": "Invoice RE-1042\n", "tags": tags}
    return render_sample(LabelStudioWriter, {}, row)


FORMAT = Format(
    id="label_studio",
    name="Label Studio",
    media_type="application/json",
    extension="json",
    description=(
        "Tasks with annotations or predictions for import into Label Studio: text spans as labels, "
        "and all other values in one control per field. Includes the text by default."
    ),
    options=_OPTIONS,
    keeps=("values", "evidence", "confidence", "text"),
    default_parts=("evidence", "text"),
    sample=_render_sample(),
    writer=LabelStudioWriter,
)
