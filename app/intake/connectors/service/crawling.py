"""Crawl a source: list it, compare with what is known, and create what is new or has changed.

Each batch is one transaction, which creates documents and stores their items, their versions, and
the path where the next batch starts. A run that is killed continues there.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple
from uuid import UUID

from app.engines.sources import SourceError, SourceObject
from app.intake.connectors.models import Connector
from app.intake.connectors.queries import objects, records
from app.intake.connectors.service import alerts
from app.intake.connectors.service.fetching import Fetched, Fetcher, Wanted
from app.intake.connectors.service.globs import is_included
from app.intake.connectors.service.opening import Target, open_source, read_target
from app.intake.connectors.service.scheduling import plan
from app.intake.ingestion_jobs import service as ingestion_jobs
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.service import ItemRow
from app.kit import plan_limits

LISTED = 1000
"""How many objects of a listing are compared with one statement."""
FETCHED = 16
"""The maximum number of documents that one transaction creates."""
FETCHED_BYTES = 64 * 1024 * 1024
_UNKNOWN_SIZE = 4 * 1024 * 1024

Checkpoint = Callable[[], None]


class _LimitReachedError(Exception):
    """The plan allows no more documents; the message says which limit is reached."""


class _Plan(NamedTuple):
    """What a run needs of its connector."""

    connector_id: UUID
    schema_id: UUID | None
    include: list[str]
    exclude: list[str]
    target: Target


def run_crawl(job_id: UUID, checkpoint: Checkpoint) -> None:
    """Crawl, or continue a crawl, and end the job; do nothing if it has ended.

    `checkpoint` commits each batch, or raises if this run must stop; the next run continues after
    the last batch that was committed.
    """
    job = ingestion_jobs.start(job_id)
    if job is None:
        return
    connector = None if job.connector_id is None else records.get(job.connector_id)
    if connector is None:
        message = "The connector was deleted."
        ingestion_jobs.fail(job_id, code="not_found", message=message)
        return
    try:
        crawl = _Crawl(job, _read_plan(connector), checkpoint)
        checkpoint()
        if crawl.run():
            finish_crawl(job_id)
    except SourceError as problem:
        fail_crawl(job_id, code=problem.kind.value, message=problem.message)
    except _LimitReachedError as refusal:
        fail_crawl(job_id, code=plan_limits.CODE, message=str(refusal))


def finish_crawl(job_id: UUID) -> None:
    """End a job whose source was read to the end, and close the alerts of its connector."""
    ingestion_jobs.finish(job_id)
    connector = _lock_connector(job_id)
    if connector is not None:
        next_crawl_at, stale_at = plan(connector)
        alerts.close_alerts(connector.id)
        times = {"next_crawl_at": next_crawl_at, "stale_at": stale_at}
        records.set_state(connector.id, failures_in_a_row=0, **times)


def fail_crawl(job_id: UUID, *, code: str, message: str) -> None:
    """Mark a job as failed, and raise an alert."""
    ingestion_jobs.fail(job_id, code=code, message=message)
    job = ingestion_jobs.get(job_id)
    if job.connector_id is not None:
        alerts.record_failure(job.connector_id, code, message, job_id=job_id)


def _lock_connector(job_id: UUID) -> Connector | None:
    job = ingestion_jobs.get(job_id)
    return None if job.connector_id is None else records.get(job.connector_id, lock=True)


def _read_plan(connector: Connector) -> _Plan:
    return _Plan(
        connector.id,
        connector.schema_id,
        list(connector.include_patterns),
        list(connector.exclude_patterns),
        read_target(connector),
    )


class _Crawl:
    """One run of a job."""

    def __init__(self, job: IngestionJob, plan: _Plan, checkpoint: Checkpoint) -> None:
        self._job = job
        self._plan = plan
        self._checkpoint = checkpoint

    def run(self) -> bool:
        """Handle what is left of the source; return False if the job ended meanwhile."""
        with Fetcher(self._plan.target) as fetcher:
            if not self._retry(fetcher):
                return False
            # The total is known since an earlier run has listed everything.
            return self._job.total is not None or self._list(fetcher)

    def _retry(self, fetcher: Fetcher) -> bool:
        """Fetch the failed documents of an earlier run again."""
        job = self._job
        while job.next_number < job.retried_until:
            last = job.retried_until - 1
            failed = ingestion_jobs.list_failed(job.id, job.next_number, last, FETCHED)
            end = failed[-1][0] + 1 if len(failed) == FETCHED else job.retried_until
            wanted = [Wanted(number, path, None, None) for number, path in failed]
            self._checkpoint()
            if not self._handle(fetcher, _Batch(wanted, 0, job.next_number, end, None)):
                return False
        return True

    def _list(self, fetcher: Fetcher) -> bool:
        """Handle the objects of the source after the job's cursor."""
        with closing(open_source(self._plan.target)) as source:
            listed = (
                found for found in source.list_objects(self._job.cursor) if self._wants(found)
            )
            while page := list(islice(listed, LISTED)):
                for batch in self._split(page):
                    if not self._handle(fetcher, batch):
                        return False
        return True

    def _wants(self, found: SourceObject) -> bool:
        return is_included(found.path, self._plan.include, self._plan.exclude)

    def _split(self, page: Sequence[SourceObject]) -> Iterator["_Batch"]:
        """Yield the batches of a page: few documents to fetch, and the unchanged among them."""
        versions = [(found.path, found.version) for found in page]
        known = objects.find_unchanged(self._plan.connector_id, versions)
        self._checkpoint()
        first = number = self._job.next_number
        wanted: list[Wanted] = []
        size = 0
        for position, found in enumerate(page):
            if position not in known:
                wanted.append(Wanted(number, found.path, found.version, found.size))
                size += _UNKNOWN_SIZE if found.size is None else found.size
            number += 1
            is_full = len(wanted) == FETCHED or size >= FETCHED_BYTES
            if is_full or position == len(page) - 1:
                unchanged = number - first - len(wanted)
                yield _Batch(wanted, unchanged, first, number, found.path)
                first, wanted, size = number, [], 0

    def _handle(self, fetcher: Fetcher, batch: "_Batch") -> bool:
        """Fetch the documents of a batch, create them and record it, in one transaction."""
        with ExitStack() as stack:
            fetched = fetcher.fetch(batch.wanted, stack) if batch.wanted else []
            job = self._job
            if ingestion_jobs.begin_batch(job.id, batch.first, batch.end - 1) is None:
                return False
            # In the order of the contents, so that two crawls never wait for each other.
            fetched.sort(key=lambda one: one.staged.sha256)
            items = [self._create(one) for one in fetched]
            refusals = _find_refusals(items)
            versions = {
                one.wanted.path: None if one.wanted.number in refusals else _choose_version(one)
                for one in fetched
            }
            if batch.cursor is not None:
                objects.save(self._plan.connector_id, versions)
            ingestion_jobs.record_batch(
                job, items, number=batch.end, cursor=batch.cursor, unchanged=batch.unchanged
            )
            self._checkpoint()
        if refusals:
            # To fetch the rest would be in vain. The next crawl continues with what was refused.
            raise _LimitReachedError(next(iter(refusals.values())))
        return True

    def _create(self, fetched: Fetched) -> ItemRow:
        number, path = fetched.wanted.number, fetched.wanted.path
        outcome = fetched.failure or ingestion_jobs.create_document(
            self._job,
            number,
            fetched.staged,
            name=PurePosixPath(path).name,
            schema_id=self._plan.schema_id,
        )
        status = outcome.status.value
        return ItemRow(number, path, status, outcome.artifact_id, outcome.error, fetched.seconds)


class _Batch(NamedTuple):
    """Objects with the numbers from `first` to before `end`, which one transaction handles."""

    wanted: list[Wanted]
    unchanged: int
    first: int
    end: int
    cursor: str | None


def _find_refusals(items: Sequence[ItemRow]) -> dict[int, str]:
    """Return the messages of documents that the plan did not allow, by number."""
    return {
        item.number: item.error["message"]
        for item in items
        if item.error is not None and item.error["code"] == plan_limits.CODE
    }


def _choose_version(fetched: Fetched) -> str | None:
    """Return the version that need not be read again; None if the next crawl tries again."""
    is_handled = fetched.failure is None or fetched.is_final
    return fetched.wanted.version if is_handled else None
