"""How programs log: structured lines on standard error, `CHRONOSHARD_LOG` sets the level and `json` or `console`."""

from __future__ import annotations

import logging
import os
import sys

import structlog

DEFAULT = "warning,console"


def configure() -> None:
    """Read `CHRONOSHARD_LOG`, such as `info,json`, and set logging up for this process."""
    words = os.environ.get("CHRONOSHARD_LOG", DEFAULT).lower().split(",")
    level = next((word for word in words if word in ("debug", "info", "warning", "error")), "warning")
    renderer = (
        structlog.processors.JSONRenderer()
        if "json" in words
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
