"""A fake API that answers as scripted."""

from __future__ import annotations

import json
import socket
import struct
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


RESET = "reset"
DONE = Answer(200, {"data": {"id": "made"}, "request_id": "r-2"})


def refusal(status: int, code: str, *, details: Any = None, **headers: str) -> Answer:
    """A refusal as the API writes it."""
    error = {"code": code, "message": "no", **({} if details is None else {"details": details})}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, {"error": error, "request_id": "r-1"}, named)


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Peer:
    """One action for each request; the last one is used for all further requests."""

    def __init__(self, *plan: Answer | str) -> None:
        self.requests: list[Request] = []
        peer = self

        class Handler(BaseHTTPRequestHandler):
            def _handle(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                action = plan[min(len(peer.requests), len(plan) - 1)]
                headers = {name.lower(): value for name, value in self.headers.items()}
                peer.requests.append(Request(self.command, self.path, headers, body))
                if not isinstance(action, Answer):
                    # Closing with no linger time sends a reset.
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                    self.close_connection = True
                    return
                content = action.body if isinstance(action.body, str) else json.dumps(action.body or {})
                self.send_response(action.status)
                for name, value in action.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content.encode())))
                self.end_headers()
                self.wfile.write(content.encode())

            do_GET = do_POST = do_PATCH = do_DELETE = _handle

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()
