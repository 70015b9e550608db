"""Routes for export formats."""

from typing import Any

from app.delivery.export_formats import service
from app.delivery.export_formats.schemas import ExportFormat, ExportFormatDetail
from app.engines.formats.model import Format
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("export-formats", description="File formats for exports.")


@blueprint.get(
    "/export-formats",
    permission="export_formats:read",
    query=Listing(sort_keys=("id", "name")),
    returns=ExportFormat,
)
def list_export_formats(caller: Caller, query: dict[str, Any]) -> Page:
    """List export formats.

    Returns each format with its media type, file extension and options, and the parts of a tag set
    that the format preserves.
    """
    return service.list_formats(**query)


@blueprint.get(
    "/export-formats/{format_id}",
    permission="export_formats:read",
    returns=ExportFormatDetail,
    text_ids=("format_id",),
)
def get_export_format(caller: Caller, format_id: str) -> Format:
    """Get an export format.

    Returns one format with the JSON Schema of its options and a sample file.
    """
    return service.get(format_id)
