"""The bodies of requests, as contract for clients: what may be sent, and what holds when it is left out."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from chronoshard.api.fields import (
    TASK_ID,
    Body,
    DurationField,
    HeadersField,
    NameField,
    PriorityField,
    TagsField,
    TimeField,
    UrlField,
)
from chronoshard.domain.catchup import WINDOW_MS
from chronoshard.domain.retry import RetryPolicy

DEFAULT_TIMEOUT_MS = 3_600_000
MAX_RETRIES = 100
_RETRY = RetryPolicy()

Runtime = Literal["python", "javascript", "shell", "binary", "builtin"]
Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


def _default(shown: str) -> Any:
    """Show a duration's default as people write it: the schema would say milliseconds."""
    return {"default": shown}


def _absent() -> Any:
    """Return the default of a field that may be left out and is never null: see model_fields_set."""
    return Field(default_factory=lambda: None)


class TaskBody(Body):
    """Code given with the job, or uploaded as JSON. `binary` needs the multipart form."""

    runtime: Runtime
    source: str


class HttpBody(Body):
    url: UrlField
    method: Method = "GET"
    headers: HeadersField = {}
    body: Annotated[str, Field(max_length=65_536)] = ""


class _Recurring(Body):
    starts_at: TimeField | None = None
    ends_at: TimeField | None = None
    max_runs: int | None = None
    jitter: DurationField = Field(default=0, json_schema_extra=_default("0s"))


class CronBody(_Recurring):
    """5 fields, or 6 with the seconds first, or @daily and the like. `H` spreads jobs over their field."""

    kind: Literal["cron"]
    schedule: str
    zone: str = "UTC"


class IntervalBody(_Recurring):
    """The first run is at `start`; without it, one interval from now."""

    kind: Literal["interval"]
    every: DurationField
    start: TimeField | None = None


class OnceBody(Body):
    kind: Literal["once"]
    at: TimeField


class NowBody(Body):
    kind: Literal["now"]


class ManualBody(Body):
    kind: Literal["manual"]


TriggerBody = Annotated[CronBody | IntervalBody | OnceBody | NowBody | ManualBody, Field(discriminator="kind")]


class RetriesBody(Body):
    max: Annotated[int, Field(ge=0, le=MAX_RETRIES)] = 0
    delay: DurationField = Field(default=_RETRY.delay_ms, json_schema_extra=_default("10s"))
    backoff: Annotated[float, Field(ge=1, le=100, allow_inf_nan=False)] = _RETRY.backoff
    max_delay: DurationField = Field(default=_RETRY.max_delay_ms, json_schema_extra=_default("10m"))


class CatchupBody(Body):
    mode: Literal["latest", "all", "none"] = "latest"
    window: DurationField = Field(default=WINDOW_MS, json_schema_extra=_default("24h"))


class DstBody(Body):
    gap: Literal["run", "skip"] = "run"
    overlap: Literal["first", "last", "both"] = "first"


class _Code(Body):
    """What a job runs: exactly one of the three in a new job, at most one in a change."""

    task_id: Annotated[str, Field(pattern=TASK_ID)] = _absent()
    task: TaskBody = _absent()
    http: HttpBody = _absent()

    @property
    def code_fields(self) -> list[str]:
        return [field for field in ("task_id", "task", "http") if field in self.model_fields_set]


class JobBody(_Code):
    """A new job."""

    name: NameField | None = None
    trigger: TriggerBody
    params: dict[str, Any] = {}
    priority: PriorityField = Field(default=2, json_schema_extra=_default("P2"))
    retries: RetriesBody = RetriesBody()
    timeout: DurationField = Field(default=DEFAULT_TIMEOUT_MS, json_schema_extra=_default("1h"))
    catchup: CatchupBody = CatchupBody()
    overlap: Literal["allow", "skip", "queue"] = "allow"
    dst: DstBody = DstBody()
    tags: TagsField = {}
    validate_only: bool = False

    @model_validator(mode="after")
    def _runs_something(self) -> JobBody:
        if len(self.code_fields) != 1:
            raise PydanticCustomError("job.task", "give exactly one of task_id, task and http")
        return self


class JobPatch(_Code):
    """What changes in a job: only what is named. `name: null` takes the name away."""

    name: NameField | None = None
    trigger: TriggerBody = _absent()
    params: dict[str, Any] = _absent()
    priority: PriorityField = _absent()
    retries: RetriesBody = _absent()
    timeout: DurationField = _absent()
    catchup: CatchupBody = _absent()
    overlap: Literal["allow", "skip", "queue"] = _absent()
    dst: DstBody = _absent()
    tags: TagsField = _absent()

    @model_validator(mode="after")
    def _means_something(self) -> JobPatch:
        if len(self.code_fields) > 1:
            raise PydanticCustomError("job.task", "give at most one of task_id, task and http")
        return self


class BatchBody(Body):
    """Up to 1,000 jobs. Each is checked by itself, so here they may be anything."""

    jobs: list[Any] = Field(json_schema_extra={"items": {"$ref": "#/components/schemas/JobBody"}})


class StatusBody(Body):
    """`disabled` pauses, `scheduled` resumes; the other statuses only the system sets."""

    status: Literal["scheduled", "disabled"]
    reason: Annotated[str, Field(max_length=1_000)] | None = None


class RunBody(Body):
    """`params` go over the job's own."""

    params: dict[str, Any] = {}


class PreviewBody(Body):
    trigger: TriggerBody
    dst: DstBody = DstBody()
    count: Annotated[int, Field(ge=1, le=100)] = 5


class TokenBody(Body):
    owner: NameField
    role: Literal["user", "viewer", "operator"]
    expires_at: TimeField | None = None


class SettingBody(Body):
    value: Any
