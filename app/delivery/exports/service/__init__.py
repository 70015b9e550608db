"""Service functions of exports: create, read, download, and change their status."""

from app.delivery.exports.service.creating import create
from app.delivery.exports.service.reading import download, get, list_exports, record_download
from app.delivery.exports.service.running import (
    complete,
    delete_expired_files,
    fail,
    reopen,
    report_progress,
    start,
)

__all__ = [
    "complete",
    "create",
    "delete_expired_files",
    "download",
    "fail",
    "get",
    "list_exports",
    "record_download",
    "reopen",
    "report_progress",
    "start",
]
