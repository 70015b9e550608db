"""Deliver files to a bucket of S3 or of a compatible object store.

The signature of a request covers the SHA-256 digest of its body, so the store refuses content that
was damaged in transit. An existing object is replaced only when the new content is complete.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from time import monotonic
from typing import Any
from urllib.parse import quote, urlsplit
from xml.etree.ElementTree import Element, ParseError, SubElement, tostring

from botocore.auth import S3SigV4Auth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]
from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]
from requests import Response

from app.engines.destinations import limits
from app.engines.destinations.content import (
    PartReader,
    ProgressReporter,
    read_blocks,
    validate_name,
)
from app.engines.destinations.failures import (
    build_full_disk_error,
    build_large_file_error,
    build_timeout_error,
)
from app.engines.destinations.http_upload import UploadBody, UploadRequest, is_success, send_upload
from app.engines.destinations.model import OutgoingFile
from app.engines.sources.http_client import read_body
from app.engines.sources.model import HostError, HostErrorKind, Network
from app.engines.sources.object_store import build_prefix, check_key
from app.engines.sources.s3 import (
    build_bucket_url,
    build_object_url,
    build_s3_error,
    find_error_code,
)

_EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()
_MEBIBYTE = 1024**2
_DAMAGED_FILE = (
    HostErrorKind.PROTOCOL,
    "The file was damaged in transit, so the host did not store it.",
)
_BUSY_HOST = (HostErrorKind.UNREACHABLE, "The host temporarily cannot receive the file.")
_BAD_NAME = (HostErrorKind.NOT_ALLOWED, "The host does not accept the name of the folder or file.")
_REFUSALS_BY_CODE: Mapping[str, tuple[HostErrorKind, str]] = {
    "BadDigest": _DAMAGED_FILE,
    "InvalidDigest": _DAMAGED_FILE,
    "XAmzContentSHA256Mismatch": _DAMAGED_FILE,
    "RequestTimeout": _BUSY_HOST,
    "SlowDown": _BUSY_HOST,
    "KeyTooLongError": _BAD_NAME,
    "NoSuchKey": _BAD_NAME,
    "NoSuchUpload": (
        HostErrorKind.PROTOCOL,
        "The host removed the parts of the file before all parts were sent.",
    ),
}
_FULL_DISK_CODES = frozenset({"InsufficientCapacity", "QuotaExceeded", "XMinioStorageFull"})


def open_destination(settings: Mapping[str, Any], network: Network) -> "S3Destination":
    """Open a bucket, or a folder in it, as a destination.

    Raises HostError if the endpoint URL is invalid.
    """
    region = str(settings.get("region") or "us-east-1")
    credentials = Credentials(settings["access_key_id"], settings["secret_access_key"])
    return S3Destination(
        network=network,
        signer=_DigestSigner(credentials, "s3", region),
        bucket=str(settings["bucket"]),
        bucket_url=build_bucket_url(str(settings["bucket"]), region, settings.get("endpoint_url")),
        prefix=build_prefix(str(settings.get("prefix", ""))),
    )


class _DigestSigner(S3SigV4Auth):  # type: ignore[misc]
    """Signs requests with a digest that the caller provides, without reading their bodies."""

    def payload(self, request: AWSRequest) -> str:
        """Return the digest of the body. botocore calls this method."""
        return str(request.context["body_sha256"])


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Destination:
    """A bucket, or a folder in it: the keys of all delivered files begin with `prefix`."""

    network: Network
    signer: _DigestSigner
    bucket: str
    bucket_url: str
    prefix: bytes

    def send(self, file: OutgoingFile, on_progress: Callable[[int], None]) -> str:
        """Deliver a file, and return its `s3://` URL.

        Sends a file of more than `MAX_PUT_BYTES` in parts. Raises HostError if the file was not
        delivered.
        """
        key = self.prefix + validate_name(file.name)
        check_key(key)
        upload = _S3Upload(
            network=self.network,
            signer=self.signer,
            url=build_object_url(self.bucket_url, key),
            file=file,
            progress=ProgressReporter(on_progress),
            deadline=monotonic() + limits.compute_timeout_seconds(file.size),
        )
        if file.size > limits.MAX_PUT_BYTES:
            upload.send_in_parts()
        else:
            upload.send_in_one_request()
        return f"s3://{self.bucket}/{key.decode('utf-8', 'replace')}"

    def close(self) -> None:
        """Do nothing: each request uses a separate connection."""


@dataclass(slots=True, kw_only=True)
class _S3Upload:
    """The delivery of one file, with a deadline for all of its requests."""

    network: Network
    signer: _DigestSigner
    url: str
    file: OutgoingFile
    progress: ProgressReporter
    deadline: float

    def send_in_one_request(self) -> None:
        """Send the file in one request."""
        blocks = read_blocks(self.file, limits.BLOCK_BYTES)
        body = UploadBody(blocks, self.file.size, self.progress)
        headers = {"Content-Type": self.file.media_type}
        with self._request("PUT", headers=headers, body=body, sha256=self.file.sha256.lower()):
            self.progress.finish()

    def send_in_parts(self) -> None:
        """Send the file in parts. If the delivery fails, request the removal of all parts."""
        sizes = _compute_part_sizes(self.file.size)
        # The digest of a part is sent before the part, so the file is read twice.
        digests = self._compute_digests(sizes)
        upload_id = self._create_upload()
        query = f"uploadId={quote(upload_id, safe='')}"
        try:
            reader = PartReader(read_blocks(self.file, limits.BLOCK_BYTES))
            etags = [
                self._send_part(reader, size, digest, f"partNumber={number}&{query}")
                for number, (size, digest) in enumerate(zip(sizes, digests, strict=True), start=1)
            ]
            self._complete_upload(query, etags)
        except BaseException:
            self.deadline = monotonic() + limits.CLEANUP_SECONDS
            with suppress(HostError), self._request("DELETE", query):
                pass
            raise
        self.progress.finish()

    def _compute_digests(self, sizes: list[int]) -> list[str]:
        reader = PartReader(read_blocks(self.file, limits.BLOCK_BYTES))
        digests = []
        for size in sizes:
            digest = hashlib.sha256()
            for block in reader.read_part(size):
                digest.update(block)
                # No bytes were sent, but this may call the callback, which can stop the delivery.
                self.progress.add(0)
            digests.append(digest.hexdigest())
        return digests

    def _create_upload(self) -> str:
        headers = {"Content-Type": self.file.media_type}
        with self._request("POST", "uploads=", headers=headers) as response:
            upload_id = _parse_response_body(response).findtext("{*}UploadId")
        if not upload_id:
            raise _build_unexpected_response_error()
        return upload_id

    def _send_part(self, reader: PartReader, size: int, digest: str, query: str) -> str:
        """Send a part and return its ETag, which is needed to complete the upload."""
        body = UploadBody(reader.read_part(size), size, self.progress)
        with self._request("PUT", query, body=body, sha256=digest) as response:
            etag = response.headers.get("ETag")
        if not etag:
            raise _build_unexpected_response_error()
        return str(etag)

    def _complete_upload(self, query: str, etags: list[str]) -> None:
        content = _build_part_list(etags)
        body = UploadBody([content], len(content), ProgressReporter(lambda _: None))
        digest = hashlib.sha256(content).hexdigest()
        with self._request("POST", query, body=body, sha256=digest) as response:
            # The store may find an error after it has sent the status.
            if not _parse_response_body(response).tag.endswith("CompleteMultipartUploadResult"):
                raise _build_unexpected_response_error()

    @contextmanager
    def _request(
        self,
        method: str,
        query: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        body: UploadBody | None = None,
        sha256: str = _EMPTY_SHA256,
    ) -> Iterator[Response]:
        """Send a signed request, and yield its response.

        Raises HostError if the request fails, or if the store refuses it.
        """
        seconds = self.deadline - monotonic()
        if seconds <= 0:
            raise build_timeout_error()
        url = f"{self.url}?{query}" if query else self.url
        request = AWSRequest(method, url, headers={"Host": urlsplit(url).netloc, **(headers or {})})
        request.context["body_sha256"] = sha256
        self.signer.add_auth(request)
        upload = UploadRequest(method, url, dict(request.headers.items()), body)
        with send_upload(self.network, upload, seconds) as response:
            if not is_success(response):
                raise _build_refusal_error(response)
            yield response


def _compute_part_sizes(size: int) -> list[int]:
    """Compute the size of each part for a file of `size` bytes."""
    min_part_size = -(-size // limits.MAX_PARTS)
    part_size = max(limits.MIN_PART_BYTES, -(-min_part_size // _MEBIBYTE) * _MEBIBYTE)
    whole_part_count, last_size = divmod(size, part_size)
    return [part_size] * whole_part_count + ([last_size] if last_size else [])


def _build_part_list(etags: list[str]) -> bytes:
    root = Element("CompleteMultipartUpload", xmlns="http://s3.amazonaws.com/doc/2006-03-01/")
    for number, etag in enumerate(etags, start=1):
        part = SubElement(root, "Part")
        SubElement(part, "PartNumber").text = str(number)
        SubElement(part, "ETag").text = etag
    return bytes(tostring(root, encoding="utf-8"))


def _parse_response_body(response: Response) -> Element:
    """Parse the XML body of a successful response, and return its root element."""
    body = read_body(response, limits.MAX_RESPONSE_BYTES)
    try:
        root: Element = fromstring(body, forbid_dtd=True)
    except (ParseError, ValueError):
        raise _build_unexpected_response_error() from None
    return root


def _build_refusal_error(response: Response) -> HostError:
    """Build the error for a response with an error status."""
    code = find_error_code(response)
    if refusal := _REFUSALS_BY_CODE.get(code):
        return HostError(*refusal)
    if code in _FULL_DISK_CODES or response.status_code == HTTPStatus.INSUFFICIENT_STORAGE:
        return build_full_disk_error()
    if code == "EntityTooLarge" or response.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return build_large_file_error()
    return build_s3_error(response, code, action="write to")


def _build_unexpected_response_error() -> HostError:
    """Build the error for a response that does not follow the protocol."""
    message = (
        "The host did not confirm the upload as an S3-compatible store does. Check `endpoint_url`;"
        " if it is correct, try again later."
    )
    return HostError(HostErrorKind.PROTOCOL, message)
