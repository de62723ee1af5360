"""How figures of several rounds are told."""

from __future__ import annotations

import statistics


def spread(values: list[float], unit: str) -> str:
    """Return a median with its range."""
    return f"{statistics.median(values):,.0f} {unit} (from {min(values):,.0f} to {max(values):,.0f})"
