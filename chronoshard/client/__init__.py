"""The client library: `Client` speaks REST, `discover` finds the server of this machine.

Nothing in here needs the server's dependencies, and importing it loads no HTTP library: that happens with the
first request.
"""

from chronoshard.client.client import Client
from chronoshard.client.discovery import Server, discover

__all__ = ["Client", "Server", "discover"]
