"""COCO data sets, read by pycocotools."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pycocotools.coco import COCO

from app.engines.fields import check_fields
from app.engines.formats import FORMATS
from app.engines.formats.model import Page
from tests.engines.formats.documents import (
    A4,
    Documents,
    frame,
    make_pages,
    make_row,
    mark,
    parse_file,
    unpack,
    write,
)

FIELDS = check_fields(
    [
        {"key": "stamp", "type": "region"},
        {"key": "number", "type": "text"},
        {
            "key": "items",
            "type": "table",
            "columns": [{"key": "photo", "type": "region"}, {"key": "name", "type": "text"}],
        },
    ]
)
TAGS = [
    frame("stamp", 1, (0.1, 0.2, 0.3, 0.4), confidence=0.5),
    frame("items.photo", 2, (0, 0, 1, 1), row=4),
    frame("number", 1, (0.5, 0.5, 0.75, 0.6), value="A-1"),
]
PAGES = {"doc-1": make_pages("Invoice A-1 of May", "second page")}


def read(files: dict[str, bytes], folder: Path) -> COCO:
    path = folder / "annotations.json"
    path.write_bytes(files["annotations.json"])
    return COCO(path)


def list_categories(coco: COCO) -> dict[int, str]:
    return {one["id"]: one["name"] for one in coco.loadCats(coco.getCatIds())}


def export(tags: list[Any], **options: Any) -> dict[str, bytes]:
    return unpack(write("coco", [make_row(tags)], Documents(PAGES), FIELDS, **options))


def test_regions_are_boxes_in_pixels_of_the_images(tmp_path: Path) -> None:
    files = export(TAGS, width=600)
    coco = read(files, tmp_path)
    assert list_categories(coco) == {1: "stamp", 2: "items.photo"}
    stamp, photo = coco.loadAnns(coco.getAnnIds())
    first, second = coco.loadImgs([stamp["image_id"], photo["image_id"]])
    for image in (first, second):
        with Image.open(io.BytesIO(files[f"images/{image['file_name']}"])) as opened:
            assert opened.size == (image["width"], image["height"]) == (600, 849)
            assert opened.format == "JPEG"
    assert [first["file_name"], second["file_name"]] == ["set-1-0001.jpg", "set-1-0002.jpg"]
    assert stamp["bbox"] == [60, 169.8, 120, 169.8]
    assert stamp["area"] == pytest.approx(120 * 169.8)
    assert photo["bbox"] == [0, 0, 600, 849]
    assert stamp["attributes"] == {"value": None, "text": None, "row": None, "confidence": 0.5}
    assert photo["attributes"]["row"] == 4
    mask = coco.annToMask(stamp)
    assert mask.shape == (849, 600)
    assert mask.sum() == pytest.approx(stamp["area"], rel=0.02)


def test_all_fields_are_categories_by_option(tmp_path: Path) -> None:
    coco = read(export(TAGS, categories="all"), tmp_path)
    names = list_categories(coco)
    assert list(names.values()) == ["stamp", "number", "items.photo", "items.name"]
    found = [names[one["category_id"]] for one in coco.loadAnns(coco.getAnnIds())]
    assert found == ["stamp", "number", "items.photo"]
    assert coco.loadAnns(coco.getAnnIds(catIds=[2]))[0]["attributes"]["value"] == "A-1"


def test_offsets_without_a_box_are_at_their_words(tmp_path: Path) -> None:
    tags = [mark("number", 8, 11), mark("items.name", 15, 25, row=0)]
    coco = read(export(tags, categories="all", width=1000), tmp_path)
    number, first, second = coco.loadAnns(coco.getAnnIds())
    height = coco.loadImgs([1])[0]["height"]
    assert number["bbox"] == pytest.approx(
        [8 / 18 * 1000, 0.1 * height, 3 / 18 * 1000, 0.1 * height], abs=0.02
    )
    assert [first["image_id"], second["image_id"]] == [1, 2]
    assert second["bbox"][0] == 0


def test_words_are_read_only_for_offsets_without_a_box() -> None:
    for tags, options, expected in (
        (TAGS, {"categories": "all"}, False),
        ([mark("number", 0, 5)], {}, False),
        ([mark("number", 0, 5)], {"categories": "all"}, True),
    ):
        source = Documents(PAGES)
        write("coco", [make_row(tags)], source, FIELDS, **options)
        assert source.batches == [(1, expected)]


def test_pages_without_annotations_by_option(tmp_path: Path) -> None:
    assert len(export(TAGS[:1])) == 3
    files = export(TAGS[:1], pages="labeled")
    assert list(files) == ["images/set-1-0001.jpg", "annotations.json"]
    assert len(read(files, tmp_path).getImgIds()) == 1


def test_png(tmp_path: Path) -> None:
    files = export(TAGS, image_format="png", width=100)
    image = read(files, tmp_path).loadImgs([1])[0]
    assert (image["file_name"], image["width"], image["height"]) == ("set-1-0001.png", 100, 142)
    with Image.open(io.BytesIO(files["images/set-1-0001.png"])) as opened:
        assert (opened.format, opened.size) == ("PNG", (100, 142))


def test_an_image_that_is_gone_is_listed_as_missing(tmp_path: Path) -> None:
    source = Documents(PAGES, can_render=False)
    files = unpack(write("coco", [make_row(TAGS)], source, FIELDS, width=600))
    assert list(files) == ["annotations.json"]
    coco = read(files, tmp_path)
    images = coco.loadImgs(coco.getImgIds())
    found = [(one["missing"], one["width"], one["height"]) for one in images]
    assert found == [(True, 600, 850)] * 2
    assert len(coco.getAnnIds()) == 2


def test_boxes_outside_the_pages_and_documents_without_pages(tmp_path: Path) -> None:
    box = (0, 0, 1, 1)
    tags = [frame("stamp", 9, box), {"field": "stamp"}, frame("gone", 1, box)]
    rows = [make_row(tags), make_row(TAGS, 2)]
    coco = read(unpack(write("coco", rows, Documents(PAGES), FIELDS)), tmp_path)
    assert len(coco.getImgIds()) == 2
    assert coco.getAnnIds() == []


def test_nothing_is_a_valid_file(tmp_path: Path) -> None:
    for fields in (FIELDS, []):
        files = unpack(write("coco", [], fields=fields))
        coco = read(files, tmp_path)
        assert coco.getImgIds() == coco.getAnnIds() == []
        assert len(coco.getCatIds()) == (2 if fields else 0)


def test_ids_are_unique_and_names_are_safe(tmp_path: Path) -> None:
    rows = [make_row(TAGS, number) for number in range(1, 131)]
    rows[0]["tag_set_id"], rows[1]["tag_set_id"] = "../../etc/passwd\0", None
    pages = {f"doc-{number}": [Page(1, *A4, ())] for number in range(1, 131)}
    files = unpack(write("coco", rows, Documents(pages), FIELDS, width=100))
    assert "images/______etc_passwd_-0001.jpg" in files
    assert "images/00000002-0001.jpg" in files
    parsed = parse_file(files, "annotations.json")
    for kind in ("images", "annotations"):
        assert [one["id"] for one in parsed[kind]] == list(range(1, 131))
    paths = {f"images/{one['file_name']}" for one in parsed["images"]}
    assert paths == set(files) - {"annotations.json"}


def test_odd_values(tmp_path: Path) -> None:
    tag = frame("number", 1, (0, 0, 1, 1), value="\ud800\n\u2028" + "x" * 1_000_000)
    coco = read(export([tag], categories="all"), tmp_path)
    (found,) = coco.loadAnns(coco.getAnnIds())
    assert found["attributes"]["value"] == "?\n\u2028" + "x" * 1_000_000


def test_the_same_rows_give_the_same_bytes() -> None:
    one, two = (write("coco", [make_row(TAGS)], Documents(PAGES), FIELDS) for _ in range(2))
    assert one == two


def test_the_sample_is_what_is_written() -> None:
    head, _, body = FORMATS["coco"].sample.partition("annotations.json\n")
    parsed = json.loads(body)
    assert head.strip() == f"images/{parsed['images'][0]['file_name']}"
    written = parse_file(export(TAGS, categories="all"), "annotations.json")
    assert written.keys() == parsed.keys()
    for kind in ("categories", "images", "annotations"):
        assert written[kind][0].keys() == parsed[kind][0].keys()
