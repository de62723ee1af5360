"""The embedded store: everything that has to survive, in one SQLite file in WAL mode.

Every statement takes or gives a whole batch as one JSON text. Python's `sqlite3` gives up the interpreter lock for
each row that it binds or fetches and has to win it back from busy threads: beside one busy thread, a batch of 100
rows bound one by one takes 60 ms, as one text 8 ms.
"""

from chronoshard.adapters.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
