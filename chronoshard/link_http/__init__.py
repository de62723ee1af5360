"""The link between orchestrators and executors over HTTP: the same calls, the same answers, the same errors."""

from chronoshard.link_http.calling import HttpExecutorLink, HttpOrchestratorLink
from chronoshard.link_http.server import Server
from chronoshard.link_http.serving import serve_executor, serve_orchestrator

__all__ = ["HttpExecutorLink", "HttpOrchestratorLink", "Server", "serve_executor", "serve_orchestrator"]
