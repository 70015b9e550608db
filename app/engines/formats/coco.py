"""Write a COCO data set for object detection, with page images and boxes as annotations.

Source: https://cocodataset.org/#format-data. The lists of images and annotations are kept in
temporary files until all images are written.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, BinaryIO

from app.engines.formats.archives import ArchiveWriter, Spool, build_safe_name
from app.engines.formats.image_size import read_image_size
from app.engines.formats.labels import build_column_map
from app.engines.formats.model import Field, Fields, Format, Options, Page, Row, Source
from app.engines.formats.parsing import DocumentWriter, dump_json, get_artifact
from app.engines.formats.regions import Region, locate_tags, needs_words

_DECIMAL_PLACES = 2
"""The number of decimal places in pixel coordinates."""

_OPTIONS: dict[str, Any] = {
    "categories": {
        "enum": ["regions", "all"],
        "default": "regions",
        "description": (
            "The fields that become categories. regions: only fields of type region. all: all "
            "fields, with the boxes from their evidence; evidence without a box gets the box "
            "around the words that it marks."
        ),
    },
    "pages": {
        "enum": ["all", "labeled"],
        "default": "all",
        "description": "The pages to write as images: all pages, or only pages with annotations.",
    },
    "width": {
        "type": "integer",
        "minimum": 100,
        "maximum": 4000,
        "default": 1000,
        "description": "The width of the page images in pixels.",
    },
    "image_format": {
        "enum": ["jpeg", "png"],
        "default": "jpeg",
        "description": "The file format of the page images.",
    },
}


class CocoWriter(DocumentWriter):
    """A writer of a ZIP with page images in `images` and the boxes in `annotations.json`."""

    def __init__(self, out: BinaryIO, fields: Fields, options: Options, source: Source) -> None:
        super().__init__(source)
        self._archive = ArchiveWriter(out)
        self._uses_all_fields = options.get("categories") == "all"
        names = _list_categories(fields, only_regions=not self._uses_all_fields)
        self._categories = {name: number for number, name in enumerate(names, start=1)}
        self._only_labeled = options.get("pages") == "labeled"
        self._width = options.get("width", 1000)
        self._image_format = options.get("image_format", "jpeg")
        self._images, self._annotations = Spool(), Spool()
        self._image_count = self._annotation_count = self._document_count = 0

    def _needs_words(self, rows: Sequence[Row]) -> bool:
        return self._uses_all_fields and any(needs_words(row) for row in rows)

    def _write_document(self, row: Row, pages: Iterator[Page]) -> None:
        self._document_count += 1
        name = build_safe_name(row.get("tag_set_id"), self._document_count)
        for page, regions in locate_tags(row, pages):
            page_regions = [
                region
                for region in regions
                if row["tags"][region.tag_index]["field"] in self._categories
            ]
            if page_regions or not self._only_labeled:
                self._write_page(row, page, page_regions, f"{name}-{page.number:04}")

    def _write_page(self, row: Row, page: Page, regions: Sequence[Region], name: str) -> None:
        data = self._source.render_page(
            get_artifact(row), page.number, width=self._width, image_format=self._image_format
        )
        file_name = f"{name}.{'jpg' if self._image_format == 'jpeg' else 'png'}"
        if data is not None:
            self._archive.add(f"images/{file_name}", data, is_compressed=True)
        size = None if data is None else read_image_size(data)
        width, height = size or _compute_size(page, self._width)
        self._image_count += 1
        image = {
            "id": self._image_count,
            "file_name": file_name,
            "width": width,
            "height": height,
            "missing": data is None,
            "page": page.number,
            "tag_set_id": row.get("tag_set_id"),
            "artifact_id": get_artifact(row).get("id"),
            "name": get_artifact(row).get("name"),
        }
        self._images.add(dump_json(image).encode())
        for region in regions:
            self._write_annotation(row["tags"][region.tag_index], region, width, height)

    def _write_annotation(
        self, tag: Mapping[str, Any], region: Region, width: int, height: int
    ) -> None:
        x0, y0, x1, y1 = region.box
        left, top = round(x0 * width, _DECIMAL_PLACES), round(y0 * height, _DECIMAL_PLACES)
        right, bottom = round(x1 * width, _DECIMAL_PLACES), round(y1 * height, _DECIMAL_PLACES)
        box_width, box_height = (
            round(right - left, _DECIMAL_PLACES),
            round(bottom - top, _DECIMAL_PLACES),
        )
        self._annotation_count += 1
        annotation = {
            "id": self._annotation_count,
            "image_id": self._image_count,
            "category_id": self._categories[tag["field"]],
            "bbox": [left, top, box_width, box_height],
            "area": round(box_width * box_height, _DECIMAL_PLACES),
            "segmentation": [[left, top, right, top, right, bottom, left, bottom]],
            "iscrowd": 0,
            "attributes": {
                "value": tag.get("value"),
                "text": region.text,
                "row": tag.get("row"),
                "confidence": tag.get("confidence"),
            },
        }
        self._annotations.add(dump_json(annotation).encode())

    def _end_file(self) -> None:
        self._archive.add_chunks("annotations.json", self._build_json(), is_compressed=False)
        self._archive.close()
        self._images.close()
        self._annotations.close()

    def _build_json(self) -> Iterator[bytes]:
        categories = [
            {"id": number, "name": name, "supercategory": name.rpartition(".")[0] or "field"}
            for name, number in self._categories.items()
        ]
        header = {"info": {"description": "Export", "version": "1.0"}, "licenses": []}
        json_start = dump_json({**header, "categories": categories})[:-1]
        return chain(
            (f'{json_start},\n"images":[\n'.encode(),),
            self._images.read(),
            (b'\n],\n"annotations":[\n',),
            self._annotations.read(),
            (b"\n]}\n",),
        )


def _compute_size(page: Page, width: int) -> tuple[int, int]:
    """Compute the expected size in pixels of a page image whose size cannot be read."""
    return width, max(1, math.ceil(width * page.height / (page.width or 1)))


def _list_categories(fields: Sequence[Field], *, only_regions: bool) -> list[str]:
    """Return the keys of fields other than tables, and then of table columns as `table.column`.

    With `only_regions`, returns only fields and columns of type region.
    """
    columns = build_column_map(fields)
    names = sorted(columns, key=lambda name: "." in name)
    return [name for name in names if not only_regions or columns[name]["type"] == "region"]


def _render_sample() -> str:
    return """\
images/01920000-0000-7000-8000-000000000001-0001.jpg

annotations.json
{"info":{"description":"Export","version":"1.0"},"licenses":[],"categories":[{"id":1,\
"name":"invoice_number","supercategory":"field"}],
"images":[
{"id":1,"file_name":"01920000-0000-7000-8000-000000000001-0001.jpg","width":1000,"height":1415,\
"missing":false,"page":1,"tag_set_id":"01920000-0000-7000-8000-000000000001",\
"artifact_id":"01920000-0000-7000-8000-000000000002","name":"invoice-1042.pdf"}
],
"annotations":[
{"id":1,"image_id":1,"category_id":1,"bbox":[120.0,141.5,90.0,14.15],"area":1273.5,\
"segmentation":[[120.0,141.5,210.0,141.5,210.0,155.65,120.0,155.65]],"iscrowd":0,"attributes":\
{"value":"RE-1042","text":"RE-1042","row":null,"confidence":null}}
]}
"""


FORMAT = Format(
    id="coco",
    name="COCO",
    media_type="application/zip",
    extension="zip",
    description=(
        "A ZIP with page images and annotations.json for object detection. The boxes come from "
        "region fields or from all evidence. Values without a box are left out; an image that "
        "cannot be rendered is listed as missing."
    ),
    options=_OPTIONS,
    keeps=("evidence", "confidence"),
    default_parts=("evidence",),
    required_parts=("evidence",),
    sample=_render_sample(),
    document_writer=CocoWriter,
)
