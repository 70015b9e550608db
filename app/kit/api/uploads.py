"""Multipart uploads. The file is hashed and written to storage while it is being received."""

from collections.abc import Callable
from typing import IO, Any, cast

from flask import g, request
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.formparser import FormDataParser

from app.kit import capacity, container, errors
from app.kit.api import requests
from app.kit.api.encodings import BodyReader, is_encoded
from app.kit.api.fields import MAX_FORM_BYTES, UploadSchema
from app.kit.errors import ApiError
from app.kit.storage import StagedFile, TooLarge

_MAX_PARTS = 50
_NO_FORM_MESSAGE = (
    "The body is not a complete multipart form whose parts have a Content-Disposition header and"
    " are separated by the boundary in the Content-Type header."
)


class _Sink:
    """A file object to which werkzeug writes an uploaded part.

    It passes the data to a `StagedFile`, which is deleted unless the service promotes it.
    """

    def __init__(self, staged: StagedFile) -> None:
        self.staged = staged

    def write(self, data: bytes) -> int:
        self.staged.write(data)
        return len(data)

    def seek(self, *_: int) -> int:
        return 0

    def close(self) -> None:
        """Do nothing; the context manager of the staged file closes it."""


def read(schema: UploadSchema) -> dict[str, Any]:
    """Return the validated fields of the form. The field `file` is an `Upload`.

    A form without a file must have the fields `schema.instead_of_file`. The staged file is
    discarded at the end of the request unless the service promotes it. Raises 413 if the file is
    larger than MAX_UPLOAD_BYTES, 415 if the content coding is not supported, 422 if the form is
    invalid, and 503 if too little disk space is free.
    """
    limit = container.settings().max_upload_bytes
    if (request.content_length or 0) > limit + MAX_FORM_BYTES:
        raise _build_size_error(limit)
    staged: list[StagedFile] = []

    def open_part(*_: object, **__: object) -> IO[bytes]:
        if staged:
            raise errors.unprocessable("file", "Send exactly one file.")
        context = container.current().storage.stage(limit)
        staged.append(context.__enter__())
        g.setdefault("staged", []).append(context)
        return _Sink(staged[0])  # type: ignore[return-value]

    with capacity.require_free_space("upload"):
        form, files = _parse_form(open_part, limit)
    part = files.get("file") if staged else None
    alternative = schema.instead_of_file[0]
    if (part is None) != (alternative in form):
        wrong_field = "file" if part is None else alternative
        message = f"Send either a part named file or a part named {alternative}."
        raise errors.unprocessable(wrong_field, message)
    body = requests.load(schema, form)
    if part is None:
        for name in schema.instead_of_file:
            if name not in form:
                raise errors.unprocessable(name, "Missing data for required field.")
        return body
    del body[alternative]
    return {**body, "file": Upload(part, staged[0])}


class Upload:
    """An uploaded file.

    `name` and `declared_media_type` come from the client. `staged` has the size and the SHA-256.
    """

    def __init__(self, part: FileStorage, staged: StagedFile) -> None:
        self.name = part.filename or ""
        self.declared_media_type = part.mimetype or None
        self.staged = staged


def _build_size_error(limit: int) -> ApiError:
    return ApiError(
        "payload_too_large",
        f"The file is larger than {limit} bytes.",
        field="file",
        details={"limit": limit},
    )


def _parse_form(
    open_part: Callable[..., IO[bytes]], limit: int
) -> tuple[dict[str, Any], MultiDict[str, FileStorage]]:
    body = BodyReader(limit + MAX_FORM_BYTES, lambda: _build_size_error(limit))
    length = None if is_encoded() else request.content_length
    parser = FormDataParser(
        stream_factory=open_part,
        max_form_memory_size=MAX_FORM_BYTES,
        max_form_parts=_MAX_PARTS,
        silent=False,
    )
    try:
        _, form, files = parser.parse(
            cast("IO[bytes]", body), request.mimetype, length, request.mimetype_params
        )
    except TooLarge:
        raise _build_size_error(limit) from None
    except ValueError:
        raise errors.unprocessable("body", _NO_FORM_MESSAGE) from None
    fields: dict[str, Any] = {}
    for name, values in form.lists():
        if len(values) > 1:
            raise errors.unprocessable(name, "This part is sent more than once.")
        if "\ufffd" in values[0]:
            raise errors.unprocessable(name, "Must be valid UTF-8 text.")
        fields[name] = values[0]
    if any(name != "file" for name in files):
        raise errors.unprocessable(
            next(n for n in files if n != "file"), "Only the part `file` may be a file."
        )
    return fields, files


def build_identity(body: dict[str, Any]) -> bytes:
    """Return bytes that identify an upload by file hash, file name and form fields.

    The idempotency check compares these bytes, because the raw body is not kept.
    """
    upload: Upload | None = body.get("file")
    fields = sorted((k, str(v)) for k, v in body.items() if k != "file")
    if upload is None:
        return f"{fields}".encode()
    return f"{upload.staged.sha256} {upload.name} {fields}".encode()


def discard() -> None:
    """Remove files that were staged but not promoted. Called at the end of every request."""
    for context in g.pop("staged", []):
        context.__exit__(None, None, None)
