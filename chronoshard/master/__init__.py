"""The master: one leads, decides who has which shards and slices, and says what minute it is."""

from chronoshard.master.master import Master

__all__ = ["Master"]
