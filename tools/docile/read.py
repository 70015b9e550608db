"""Read a data set with the library of the DocILE benchmark, which must be importable.

    PYTHONPATH=.venv/docile python tools/docile/read.py SPLIT FOLDER

Prints a JSON array with the annotation of each document, as the library reads it.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from docile.dataset import Dataset, Document, Field
from docile.dataset.cached_object import CachingConfig


def read_document(document: Document) -> dict[str, Any]:
    """Return the annotation of a document as the library reads it."""
    annotation = document.annotation
    return {
        "id": document.docid,
        "page_count": document.page_count,
        "sizes": [annotation.page_image_size_at_200dpi(n) for n in range(document.page_count)],
        "tables": [annotation.get_table_grid(n) for n in range(document.page_count)],
        "fields": [_describe(field) for field in annotation.fields],
        "line_items": [_describe(field) for field in annotation.li_fields],
        "headers": len(annotation.li_headers),
        "document_type": annotation.document_type,
        "currency": annotation.currency,
        "language": annotation.language,
        "source": annotation.source,
        "cluster_id": annotation.cluster_id,
        "original_filename": annotation.original_filename,
    }


def _describe(field: Field) -> dict[str, Any]:
    return {**asdict(field), "bbox": field.bbox.to_tuple()}


def main() -> None:
    """Read the split of the data set in a folder, and print its annotations as JSON."""
    split, folder = sys.argv[1:]
    dataset = Dataset(split, Path(folder), load_ocr=False, cache_images=CachingConfig.OFF)
    json.dump([read_document(document) for document in dataset.documents], sys.stdout)


if __name__ == "__main__":
    main()
