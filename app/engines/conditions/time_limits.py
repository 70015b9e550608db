"""Limit the processor time for the evaluation of conditions."""

from time import thread_time


class EvaluationTimeout(Exception):  # noqa: N818 - names what happened
    """The conditions took more processor time than their limit allows."""


class TimeLimit:
    """A limit on the processor time that the current thread may use after the limit is created.

    Processor time does not depend on the load of the machine. If `within` is not None, this limit
    never ends later than `within`. A test in progress is not interrupted, so the last test can
    exceed the limit.
    """

    __slots__ = ("ends_at",)

    def __init__(self, seconds: float, *, within: "TimeLimit | None" = None) -> None:
        ends_at = thread_time() + seconds
        self.ends_at: float = ends_at if within is None else min(ends_at, within.ends_at)

    def check(self) -> None:
        """Raise EvaluationTimeout if the time is used up."""
        if thread_time() >= self.ends_at:
            raise EvaluationTimeout
