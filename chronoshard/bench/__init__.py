"""`chronoshard bench`: what this machine does, embedded, as figures with their conditions."""

from chronoshard.bench.run import main

__all__ = ["main"]
