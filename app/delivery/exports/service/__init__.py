"""Service functions of exports: create, read, download, and change their status."""

from app.delivery.exports.service.asking import create
from app.delivery.exports.service.reading import download, get, list_exports, record_download
from app.delivery.exports.service.running import complete, expire, fail, reopen, report, start

__all__ = [
    "complete",
    "create",
    "download",
    "expire",
    "fail",
    "get",
    "list_exports",
    "record_download",
    "reopen",
    "report",
    "start",
]
