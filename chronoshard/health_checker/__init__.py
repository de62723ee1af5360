"""The health checker: condemns the silent, requeues what they held, audits every minute until it is settled."""

from chronoshard.health_checker.health_checker import HealthChecker

__all__ = ["HealthChecker"]
