"""Job types: a payload model, a handler and a policy under a name; and one run of a handler."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec
import trio
from pydantic import BaseModel, ValidationError

from yoked_actor.actors.mailbox import MailboxFull
from yoked_actor.domain.jobs import (
    Cancel,
    ErrorKind,
    Job,
    Permanent,
    Progress,
    RetryPolicy,
    Snooze,
    Transient,
    idempotency_key,
)
from yoked_actor.settings import JobSettings, RetrySettings, policy_for
from yoked_actor.store import Effect, LeaseLost, StoreUnavailable, explain

P = TypeVar("P", bound=BaseModel)
Result = Snooze | Cancel | None
_PASSING = (Transient, StoreUnavailable, MailboxFull, LeaseLost, trio.TooSlowError, TimeoutError)


class JobRun(msgspec.Struct, Generic[P], eq=False):
    """One attempt at a job: the argument of its handler."""

    job: Job
    payload: P
    effect: Effect | None = None
    """Changes the database in the transaction that completes the job."""
    then: Callable[[], None] | None = None
    """Called after that commit. It must not block; a crash may skip it."""
    progress: Progress | None = None
    """The last reported progress."""

    def report(self, done: int, total: int | None = None, note: str = "") -> None:
        """Report progress. Cheap; may be called from a thread.

        The newest report is written every `jobs.progress_every_s`, with the job's fence. Raises
        `ValueError` when the numbers are not possible.
        """
        self.progress = Progress(done, total, note)

    @property
    def idempotency_key(self) -> str:
        """Identifies the job to other systems; the same in every attempt."""
        return idempotency_key(self.job)


Handler = Callable[[JobRun[P]], Awaitable[Result]]
CpuHandler = Callable[[JobRun[P]], Result]


class JobType:
    """A registered job type."""

    __slots__ = (
        "_is_async",
        "_limits",
        "_own_policy",
        "_policy",
        "_retry",
        "_validate",
        "cpu_bound",
        "handler",
        "judge",
        "model",
        "name",
        "observe",
        "quiet",
        "version",
    )

    def __init__(
        self,
        name: str,
        model: type[BaseModel],
        handler: Callable[[JobRun[Any]], Any],
        policy: RetryPolicy | None,
        observe: Callable[[Sequence[float]], None],
        limits: JobSettings,
        *,
        cpu_bound: bool,
        quiet: bool,
        version: int,
        judge: Callable[[str, Sequence[float]], None] | None = None,
    ) -> None:
        self.name = name
        self.model = model
        self._own_policy = policy
        self._limits = limits
        self._retry: Mapping[str, RetrySettings] | None = None
        self.observe = observe
        self.cpu_bound = cpu_bound
        self.judge = judge
        self.quiet = quiet
        self.version = version
        self.handler = handler
        """Call it if it is not CPU-bound; if it is, call `compute`."""
        # What `model_validate_json` calls, after it has looked at arguments that are not used here.
        self._validate = model.__pydantic_validator__.validate_json
        self._is_async = inspect.iscoroutinefunction(handler)
        if not (self._is_async or cpu_bound):
            raise TypeError(f"the handler of {name} has to be an async function, or cpu_bound")

    @property
    def policy(self) -> RetryPolicy:
        """The policy in force, which a reload of the settings may change."""
        if self._retry is not self._limits.retry:
            self._retry = self._limits.retry
            self._policy = policy_for(self._retry, self.name, self._own_policy)
        return self._policy

    def begin(self, job: Job) -> JobRun[BaseModel]:
        """A run with a validated payload; raises `Permanent` when it is not valid."""
        if job.payload_version > self.version:
            raise Permanent(
                f"payload version {job.payload_version} is newer than {self.version}, which is"
                " the newest that this program knows"
            )
        try:
            return JobRun(job, self._validate(job.payload))
        except ValidationError as error:
            raise Permanent(f"the payload does not fit: {error}") from error

    async def compute(self, run: JobRun[BaseModel], limiter: trio.CapacityLimiter | None) -> Result:
        """Call a CPU-bound handler, on a thread when there is a limiter for threads."""
        if limiter is None:
            result = self._compute(run)
            await trio.lowlevel.checkpoint()
        else:
            result = await trio.to_thread.run_sync(self._compute, run, limiter=limiter)
        return result

    def _compute(self, run: JobRun[BaseModel]) -> Result:
        result: Any = self.handler(run)
        if not self._is_async:
            return result  # type: ignore[no-any-return]
        try:
            result.send(None)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        result.close()
        raise TypeError(f"the handler of {self.name} is CPU-bound and must not await")


def outline_of(error: BaseException) -> str:
    """An error without its messages: where it was raised, and of which types it and its causes are.

    Messages may name users; a file, a line and a type do not.
    """
    parts, seen = [], set[int]()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        parts.append("".join(traceback.format_tb(one.__traceback__)) + type(one).__qualname__)
        one = one.__cause__ or one.__context__
    return "\n".join(reversed(parts))


def kind_of(error: BaseException) -> ErrorKind:
    """Whether an error is transient. An error that is not declared so is an error in the logic."""
    if isinstance(error, BaseExceptionGroup):
        kinds = {kind_of(one) for one in error.exceptions}
        return ErrorKind.TRANSIENT if kinds == {ErrorKind.TRANSIENT} else ErrorKind.LOGIC
    if isinstance(error, Exception):
        # A handler or an effect may raise an error of the database itself, which may only be busy.
        error = explain(error)
    return ErrorKind.TRANSIENT if isinstance(error, _PASSING) else ErrorKind.LOGIC
