"""The blobs of every adapter in turn."""

from __future__ import annotations

from pathlib import Path

import pytest
from obstore.store import MemoryStore

from chronoshard.adapters.blobs import ObstoreBlobs
from chronoshard.ports import Blobs


@pytest.fixture(params=["directory", "object store"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    """Return an empty store of blobs. obstore's own memory stands for what is not a directory."""
    if request.param == "directory":
        return ObstoreBlobs.local(tmp_path / "blobs")
    return ObstoreBlobs(MemoryStore())
