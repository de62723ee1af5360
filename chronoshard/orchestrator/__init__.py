"""The orchestrator: takes bundles from the queues, claims their attempts and starts them on executors."""

from chronoshard.orchestrator.orchestrator import Orchestrator

__all__ = ["Orchestrator"]
