"""The shard worker: reads its partitions ahead, releases each run on its instant, closes what is past."""

from chronoshard.shard_worker.worker import ShardWorker

__all__ = ["ShardWorker"]
