"""What the parts need from outside. Each docstring is a contract; one behavioural suite runs over every adapter.

All calls are synchronous and batch-first. Any call may raise Unavailable (nothing is known to have happened,
and the same call again is safe); a write may raise OutcomeUnknown (it may have happened: repeat it as it was).
"""

from chronoshard.ports.blobs import Blobs
from chronoshard.ports.broker import Broker, Consumer, Delivery
from chronoshard.ports.coordination import Assignments, Coordination, Member, Term, Tick
from chronoshard.ports.dedupe import Dedupe
from chronoshard.ports.store import Access, Executors, History, Jobs, Minutes, Store, Timetable

__all__ = [
    "Access",
    "Assignments",
    "Blobs",
    "Broker",
    "Consumer",
    "Coordination",
    "Dedupe",
    "Delivery",
    "Executors",
    "History",
    "Jobs",
    "Member",
    "Minutes",
    "Store",
    "Term",
    "Tick",
    "Timetable",
]
