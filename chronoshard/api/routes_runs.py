"""The paths of runs: what became of them, what they printed, and what can be done to them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import StreamingResponse

from chronoshard.api import output
from chronoshard.api.answers import answer, caller_of, context_of
from chronoshard.api.cancel import cancel, retry
from chronoshard.api.context import Context
from chronoshard.api.documents import Document, run_document
from chronoshard.api.explain import explained
from chronoshard.api.finding import attempts, find_run
from chronoshard.api.idempotency import Route
from chronoshard.api.streaming import events
from chronoshard.domain.identity import Run
from chronoshard.domain.job import Head
from chronoshard.link import Stream

router = APIRouter(prefix="/api/v1/runs", tags=["runs"], route_class=Route, strict_content_type=False)

NOT_SNIFFED = {"X-Content-Type-Options": "nosniff"}


@router.get("/{run_id}")
def get_run(request: Request, run_id: str) -> Response:
    """Return a run with its attempts."""
    context = context_of(request)
    run, head = find_run(context, caller_of(request), run_id)
    return answer(_document(context, head, run))


@router.get("/{run_id}/output")
def get_output(
    request: Request,
    run_id: str,
    attempt: Annotated[int | None, Query(ge=0)] = None,
    offset: Annotated[int, Query(ge=0, le=1 << 40)] = 0,
    stream: Stream = "stdout",
) -> Response:
    """Return what an attempt (the last one) printed, from byte `offset` on."""
    context = context_of(request)
    run, head = find_run(context, caller_of(request), run_id)
    one = output.chosen(attempts(context, head, run), attempt)
    piece = output.read(context, run, one, stream, offset=offset, limit=context.settings.output_limit)
    headers = {**NOT_SNIFFED, **({"X-Output-Truncated": "true"} if piece.truncated else {})}
    return Response(piece.data, 200, headers, "text/plain; charset=utf-8")


@router.get("/{run_id}/output/stream")
def stream_output(request: Request, run_id: str) -> Response:
    """Send what the run prints as server-sent events until it has ended; Last-Event-ID resumes."""
    context = context_of(request)
    run, head = find_run(context, caller_of(request), run_id)
    attempts(context, head, run)
    told = events(context, head, run, request.headers.get("last-event-id"))
    headers = {**NOT_SNIFFED, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(told, 200, headers, "text/event-stream")


@router.post("/{run_id}/cancel", status_code=202)
def cancel_run(request: Request, run_id: str) -> Response:
    """End a run early; a running one ends within seconds."""
    context = context_of(request)
    run, head = find_run(context, caller_of(request), run_id)
    cancel(context, head, run)
    return answer(_document(context, head, run), 202)


@router.post("/{run_id}/retry", status_code=202)
def retry_run(request: Request, run_id: str) -> Response:
    """Have one more attempt of a run that ended badly."""
    context = context_of(request)
    run, head = find_run(context, caller_of(request), run_id)
    retry(context, head, run)
    return answer(_document(context, head, run), 202)


@router.get("/{run_id}/explain")
def explain_run(request: Request, run_id: str) -> Response:
    """Say why a run has not started, or what happened to each attempt."""
    context = context_of(request)
    run, head = find_run(context, caller_of(request), run_id)
    return answer(explained(context, head, run))


def _document(context: Context, head: Head, run: Run) -> Document:
    return run_document(run, attempts(context, head, run), now_ms=context.clock.now_ms())
