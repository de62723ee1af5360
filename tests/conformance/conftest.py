"""One behavioural suite per port; each fixture is every adapter of its port in turn."""

from __future__ import annotations

from blobs_fixtures import blobs  # noqa: F401
from broker_fixtures import broker  # noqa: F401
from coordination_fixtures import coordination  # noqa: F401
from dedupe_fixtures import dedupe  # noqa: F401
from link_fixtures import door, executor_link, orchestrator_link  # noqa: F401
from store_fixtures import clock, store  # noqa: F401
