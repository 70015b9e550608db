"""Concurrent fetching of documents from a source into staged files."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from itertools import takewhile
from math import inf
from queue import Empty, SimpleQueue
from threading import Lock
from time import monotonic, perf_counter
from typing import NamedTuple, Self

from app.engines.sources.model import HostError, HostErrorKind, ObjectMissing, Source
from app.intake.connectors.service.opening import SourceTarget, open_source
from app.intake.ingestion_jobs.service.documents import ItemOutcome, build_failure
from app.kit import container
from app.kit.storage import StagedFile, TooLarge

MAX_CONNECTIONS = 3
"""The maximum number of concurrent connections of one crawl; many servers limit connections."""
MAX_FAILURES = 3
"""The crawl fails after the host was unreachable for this number of consecutive documents."""
START_SECONDS = 30.0
"""The time in seconds after which no further download of a batch starts. The crawl then records the
fetched documents, and lets other crawls run."""


class FetchRequest(NamedTuple):
    """A document to fetch; `number` is its number in the job. `version` is None for a retry."""

    number: int
    path: str
    version: str | None


class FetchResult(NamedTuple):
    """The result of fetching a document.

    `staged` contains the document unless `failure` is set. `seconds` is the time that the attempt
    took.
    """

    request: FetchRequest
    staged: StagedFile
    seconds: float
    failure: ItemOutcome | None = None


class Fetcher:
    """Fetches documents with at most MAX_CONNECTIONS connections to the same source.

    Connections are opened when they are needed, and kept until the context manager exits. A
    connection that fails is closed immediately.
    """

    def __init__(self, target: SourceTarget) -> None:
        self._target = target
        self._lock = Lock()
        self._unreachable_count = 0
        self._problem: HostError | None = None
        self._idle_sources: SimpleQueue[Source] = SimpleQueue()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._pool = self._stack.enter_context(ThreadPoolExecutor(MAX_CONNECTIONS, "crawl-fetch"))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        while not self._idle_sources.empty():
            self._idle_sources.get().close()

    def fetch(self, requests: Sequence[FetchRequest], stack: ExitStack) -> list[FetchResult]:
        """Fetch documents into staged files that are removed when `stack` is closed.

        Returns the results of all requests or, if the host is slow, of the first requests. Raises
        HostError if the source refuses the credentials, or cannot be reached for
        MAX_FAILURES consecutive documents. After such an error, no further download is started.
        """
        ends_at = monotonic() + START_SECONDS
        limit = container.settings().max_upload_bytes
        storage = container.current().storage
        files = [stack.enter_context(storage.stage(limit)) for _ in requests]
        futures = [
            self._pool.submit(self._fetch_document, request, file, ends_at if index else inf)
            for index, (request, file) in enumerate(zip(requests, files, strict=True))
        ]
        try:
            results = [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise
        finally:
            # The caller removes the files, and no download may write to a removed file.
            wait(futures)
        if self._problem is not None:
            raise self._problem
        return [result for result in takewhile(bool, results) if result is not None]

    def _fetch_document(
        self, request: FetchRequest, staged: StagedFile, ends_at: float
    ) -> FetchResult | None:
        """Fetch a document, and return the result.

        Returns None, without fetching, if the crawl must end or the time `ends_at` has passed.
        """
        if self._problem is not None or monotonic() >= ends_at:
            return None
        started_at = perf_counter()

        def fail(code: str, message: str, *, is_final: bool = False) -> FetchResult:
            failure = build_failure(code, message, is_final=is_final)
            return FetchResult(request, staged, round(perf_counter() - started_at, 6), failure)

        try:
            self._download_document(request.path, staged)
        except ObjectMissing:
            self._record_attempt(None)
            return fail("not_found", "The document no longer exists, or it was replaced.")
        except TooLarge as failure:
            self._record_attempt(None)
            message = f"The document is larger than {failure.limit} bytes."
            return fail("payload_too_large", message, is_final=True)
        except HostError as problem:
            self._record_attempt(problem)
            return fail(problem.kind.value, problem.message)
        self._record_attempt(None)
        return FetchResult(request, staged, round(perf_counter() - started_at, 6))

    def _record_attempt(self, problem: HostError | None) -> None:
        """Record an attempt: count consecutive failures to reach the host.

        `problem` is None if the host was reached. Stores the problem if it must end the crawl.
        """
        # A host that responds with another error is reachable, and may send other documents.
        is_unreachable = problem is not None and problem.kind == HostErrorKind.UNREACHABLE
        is_refused = problem is not None and problem.kind == HostErrorKind.CREDENTIALS_REFUSED
        with self._lock:
            self._unreachable_count = self._unreachable_count + 1 if is_unreachable else 0
            if is_refused or self._unreachable_count >= MAX_FAILURES:
                self._problem = self._problem or problem

    def _download_document(self, path: str, staged: StagedFile) -> None:
        try:
            source = self._idle_sources.get_nowait()
        except Empty:
            source = open_source(self._target)
        try:
            with source.open(path) as chunks:
                for chunk in chunks:
                    staged.write(chunk)
        except (ObjectMissing, TooLarge):
            self._idle_sources.put(source)
            raise
        except BaseException:
            source.close()
            raise
        self._idle_sources.put(source)
