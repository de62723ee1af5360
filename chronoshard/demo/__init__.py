"""`chronoshard demo`: the main job, end to end, on a scratch directory, as it happens."""

from chronoshard.demo.show import main

__all__ = ["main"]
