"""Crawls that list a source and create the documents that are new or have changed.

Each batch is one transaction, which creates documents and stores their items, their versions, and
the position of the listing. After a run has been killed, the next run continues after this
position.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from uuid import UUID

from app.engines.sources.model import HostError, SourceObject
from app.intake.connectors.models import Connector
from app.intake.connectors.queries import alerts as alert_queries
from app.intake.connectors.queries import objects, records
from app.intake.connectors.service import alerts
from app.intake.connectors.service.fetching import Fetcher, FetchRequest, FetchResult
from app.intake.connectors.service.globs import PathPatterns
from app.intake.connectors.service.listing import Batch, split_batches, split_listing
from app.intake.connectors.service.opening import SourceTarget, open_source, read_target
from app.intake.connectors.service.scheduling import compute_crawl_times
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.service import documents, reading
from app.intake.ingestion_jobs.service import running as ingestion_jobs
from app.intake.ingestion_jobs.service.documents import ItemOutcome
from app.kit import plan_limits
from app.kit.db import Checkpoint

FETCH_BATCH_SIZE = 16
"""The maximum number of documents that one transaction creates."""


class _LimitReachedError(Exception):
    """The plan allows no more documents; the message names the limit that is reached."""


class _SettingsChangedError(Exception):
    """The settings of the connector have changed since the run read them."""


class _CrawlSettings(NamedTuple):
    """The settings for a crawl, read from the connector when the run starts.

    `source_digest` is a digest of the settings of the source.
    """

    connector_id: UUID
    source_digest: str
    schema_id: UUID | None
    patterns: PathPatterns
    target: SourceTarget


def run_crawl(job_id: UUID, checkpoint: Checkpoint) -> None:
    """Start or continue the crawl of a job, and end the job; do nothing if the job has ended.

    `checkpoint` commits each batch, or raises if this run must stop; the next run continues after
    the last batch that was committed.
    """
    try:
        while crawl := _start_run(job_id, checkpoint):
            try:
                if crawl.run():
                    finish_crawl(job_id)
            except _SettingsChangedError:
                continue  # The next run reads the new settings.
            return
    except HostError as problem:
        fail_crawl(job_id, code=problem.kind.value, message=problem.message)
    except _LimitReachedError as refusal:
        fail_crawl(job_id, code=plan_limits.ERROR_CODE, message=str(refusal))


def _start_run(job_id: UUID, checkpoint: Checkpoint) -> "_Crawl | None":
    """Start a run of a crawl with the current settings, or return None if the job has ended.

    If the connector was deleted, marks the job as failed and returns None.
    """
    job = ingestion_jobs.start(job_id)
    if job is None:
        return None
    connector = None if job.connector_id is None else records.get(job.connector_id)
    if connector is None:
        message = "The connector was deleted."
        ingestion_jobs.fail(job_id, code="not_found", message=message)
        return None
    settings = _read_settings(connector)
    ingestion_jobs.set_source(job, settings.source_digest)
    checkpoint()
    return _Crawl(job, settings, checkpoint)


def finish_crawl(job_id: UUID) -> None:
    """Finish a crawl that has read the whole source.

    Finishes the job, closes the connector's alerts, resets its failure count, and sets its crawl
    times. Does nothing if the job has ended, for example because it was cancelled.
    """
    if not ingestion_jobs.finish(job_id):
        return
    job = reading.get(job_id)
    connector = None if job.connector_id is None else records.lock(job.connector_id)
    if connector is not None:
        next_crawl_at, stale_at = compute_crawl_times(connector)
        alert_queries.close(connector.id)
        times = {"next_crawl_at": next_crawl_at, "stale_at": stale_at}
        records.set_state(connector.id, failures_in_a_row=0, **times)


def fail_crawl(job_id: UUID, *, code: str, message: str) -> None:
    """Mark a crawl's job as failed, and raise an alert for the connector.

    Does nothing if the job has ended, for example because it was cancelled.
    """
    if not ingestion_jobs.fail(job_id, code=code, message=message):
        return
    job = reading.get(job_id)
    if job.connector_id is not None:
        alerts.record_failure(job.connector_id, code, message, job_id=job_id)


def _read_settings(connector: Connector) -> _CrawlSettings:
    return _CrawlSettings(
        connector.id,
        _hash_settings(connector.settings),
        connector.schema_id,
        PathPatterns(list(connector.include_patterns), list(connector.exclude_patterns)),
        read_target(connector),
    )


def _hash_settings(settings: Mapping[str, Any] | None) -> str:
    return sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


class _Crawl:
    """One run of a crawl, from the job's current position to the end of the source."""

    def __init__(self, job: IngestionJob, settings: _CrawlSettings, checkpoint: Checkpoint) -> None:
        self._job = job
        self._settings = settings
        self._checkpoint = checkpoint

    def run(self) -> bool:
        """Run the crawl to the end of the source; return False if the job ended before that."""
        with Fetcher(self._settings.target) as fetcher:
            if not self._retry_failed_documents(fetcher):
                return False
            # The total is known if an earlier run has listed the whole source.
            return self._job.total is not None or self._crawl_listing(fetcher)

    def _retry_failed_documents(self, fetcher: Fetcher) -> bool:
        """Fetch the failed documents of an earlier run again; return False if the job ended."""
        job = self._job
        for failed_documents, end in ingestion_jobs.iterate_failed_batches(job, FETCH_BATCH_SIZE):
            requests = [FetchRequest(number, path, None) for number, path, _ in failed_documents]
            self._checkpoint()
            if not self._handle_batch(fetcher, Batch(requests, 0, job.next_number, end, None)):
                return False
        return True

    def _crawl_listing(self, fetcher: Fetcher) -> bool:
        """Handle the source's objects after the job's cursor; return False if the job ended."""
        with closing(open_source(self._settings.target)) as source:
            patterns = self._settings.patterns
            listing = source.list_objects(self._job.cursor, patterns)
            for part in split_listing(listing, patterns):
                if part.cursor is None:
                    if not ingestion_jobs.end_transaction_and_check_running(self._job.id):
                        return False
                    continue
                for batch in self._split_batches(part.objects, part.cursor):
                    if not self._handle_batch(fetcher, batch):
                        return False
        return True

    def _split_batches(
        self, source_objects: Sequence[SourceObject], cursor: str
    ) -> Iterator[Batch]:
        """Split a part of a listing into batches, and commit the transaction.

        `cursor` is the position at which the part ends.
        """
        versions = [(source_object.path, source_object.version) for source_object in source_objects]
        unchanged_indexes = objects.find_unchanged_indexes(self._settings.connector_id, versions)
        self._checkpoint()
        return split_batches(
            source_objects,
            unchanged_indexes,
            first=self._job.next_number,
            cursor=cursor,
            batch_size=FETCH_BATCH_SIZE,
        )

    def _handle_batch(self, fetcher: Fetcher, batch: Batch) -> bool:
        """Fetch and create the documents of a batch. A slow host may require several transactions.

        Returns False if the job ended before the batch was recorded.
        """
        remaining_batch: Batch | None = batch
        while remaining_batch is not None:
            with ExitStack() as stack:
                requests = remaining_batch.requests
                results = fetcher.fetch(requests, stack) if requests else []
                part, remaining_batch = remaining_batch.split(len(results))
                if not self._begin_batch(part):
                    return False
                refusal = self._record_batch(part, results)
                self._checkpoint()
            if refusal is not None:
                # Other documents would be refused as well.
                raise _LimitReachedError(refusal)
        return True

    def _record_batch(self, batch: Batch, results: list[FetchResult]) -> str | None:
        """Create the fetched documents of a batch, and record the batch.

        Returns the error message for a document that the plan did not allow, or None.
        """
        # Documents are created in the order of their checksums, so that crawls cannot deadlock.
        results.sort(key=lambda result: result.staged.sha256)
        outcomes = [self._create_document(result) for result in results]
        items = [
            outcome.build_item(result.request.number, result.request.path, result.seconds)
            for result, outcome in zip(results, outcomes, strict=True)
        ]
        # Without a version, the next crawl reads the document again.
        versions = {
            result.request.path: result.request.version if outcome.is_final else None
            for result, outcome in zip(results, outcomes, strict=True)
        }
        if batch.cursor is not None:
            objects.save(self._settings.connector_id, versions)
        ingestion_jobs.record_batch(
            self._job,
            items,
            next_number=batch.end,
            cursor=batch.cursor,
            unchanged_count=batch.unchanged_count,
        )
        return _find_refusal(outcomes)

    def _begin_batch(self, batch: Batch) -> bool:
        """Lock the job to record a batch; return False if the job has ended.

        Raises _SettingsChangedError if the connector has another source now, because the position
        of the batch belongs to the old source.
        """
        connector_id = self._settings.connector_id
        if ingestion_jobs.begin_batch(self._job.id, batch.first, batch.end - 1) is None:
            return False
        if _hash_settings(records.get_settings(connector_id)) != self._settings.source_digest:
            raise _SettingsChangedError
        return True

    def _create_document(self, result: FetchResult) -> ItemOutcome:
        return result.failure or documents.create_document(
            self._job,
            result.request.number,
            result.staged,
            name=PurePosixPath(result.request.path).name,
            schema_id=self._settings.schema_id,
        )


def _find_refusal(outcomes: Sequence[ItemOutcome]) -> str | None:
    """Return the error message for a document that the plan did not allow, or None."""
    for outcome in outcomes:
        if outcome.error is not None and outcome.error["code"] == plan_limits.ERROR_CODE:
            return outcome.error["message"]
    return None
