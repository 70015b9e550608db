"""Fetch documents of a source into the storage, several at a time."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import NamedTuple, Self

from app.engines.sources import ObjectMissing, Source, SourceError, SourceErrorKind
from app.intake.connectors.service.opening import Target, open_source
from app.intake.ingestion_jobs.service import Outcome, build_failure
from app.kit import container
from app.kit.storage import Staged, TooLarge

FETCHERS = 3
"""How many documents are fetched at the same time; many servers limit connections."""
MAX_ATTEMPTS = 3
"""The number of documents in a row that a host may fail to send before the crawl ends."""


class Wanted(NamedTuple):
    """A document to fetch. `version` is None if it is unknown, because it is tried again."""

    number: int
    path: str
    version: str | None
    size: int | None


class Fetched(NamedTuple):
    """A document that was fetched, or the reason why not.

    `is_final` is whether the same version will fail again.
    """

    wanted: Wanted
    staged: Staged
    seconds: float
    failure: Outcome | None = None
    is_final: bool = False


class Fetcher:
    """Fetches documents with several connections to the same source.

    Connections are opened when they are needed and kept until the end of the block.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._failures = 0
        self._idle: SimpleQueue[Source] = SimpleQueue()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._pool = self._stack.enter_context(ThreadPoolExecutor(FETCHERS, "crawl-fetch"))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        while not self._idle.empty():
            self._idle.get().close()

    def fetch(self, wanted: Sequence[Wanted], stack: ExitStack) -> list[Fetched]:
        """Fetch documents into staged files that `stack` removes.

        Raises SourceError if the source refuses the credentials, or failed several times in a row.
        """
        limit = container.settings().max_upload_bytes
        storage = container.current().storage
        staged = [stack.enter_context(storage.stage(limit)) for _ in wanted]
        futures = [
            self._pool.submit(self._fetch, one, file)
            for one, file in zip(wanted, staged, strict=True)
        ]
        results = []
        for future in futures:
            result = future.result()
            if isinstance(result, SourceError):
                raise result
            results.append(result)
        return results

    def _fetch(self, wanted: Wanted, staged: Staged) -> Fetched | SourceError:
        began = perf_counter()

        def fail(code: str, message: str, *, is_final: bool = False) -> Fetched:
            seconds = round(perf_counter() - began, 6)
            return Fetched(wanted, staged, seconds, build_failure(code, message), is_final)

        try:
            self._receive(wanted.path, staged)
        except ObjectMissing:
            return fail("not_found", "The document is no longer there, or it was replaced.")
        except TooLarge as failure:
            message = f"The document is larger than {failure.limit} bytes."
            return fail("payload_too_large", message, is_final=True)
        except SourceError as problem:
            # That a document may not be read tells nothing about the host.
            if problem.kind != SourceErrorKind.NOT_ALLOWED:
                self._failures += 1
                is_refused = problem.kind == SourceErrorKind.CREDENTIALS_REFUSED
                if is_refused or self._failures >= MAX_ATTEMPTS:
                    return problem
            return fail(problem.kind.value, problem.message)
        self._failures = 0
        return Fetched(wanted, staged, round(perf_counter() - began, 6))

    def _receive(self, path: str, staged: Staged) -> None:
        try:
            source = self._idle.get_nowait()
        except Empty:
            source = open_source(self._target)
        try:
            with source.open(path) as chunks:
                for chunk in chunks:
                    staged.write(chunk)
        except (ObjectMissing, TooLarge):
            self._idle.put(source)
            raise
        except BaseException:
            source.close()
            raise
        self._idle.put(source)
