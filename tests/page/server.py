"""The HTTP side of the device that the page is tried with: the routes and the headers of the daemon."""

import json
import mimetypes
import queue
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

from tests.page.device import NOISY, STYLES, Device, Json, tone

STATIC = Path(__file__).parents[2] / "daemon" / "web" / "static"
POLICY = "default-src 'self'"
PORT = 7861  # vite.config.ts passes requests on to it


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    device: ClassVar[Device]
    token: ClassVar[str | None]

    def do_GET(self) -> None:
        path = urllib.parse.urlsplit(self.path).path
        device = self.device
        if not path.startswith(("/api/", "/outputs/")):
            self._static("index.html" if path == "/" else path.lstrip("/"))
        elif not self._is_allowed():
            self._refuse(401, "unauthorized", "a token is required")
        elif path.startswith("/outputs/"):
            self._sound(tone(2.4))
        else:
            match path.removeprefix("/api/"):
                case "state":
                    self._json(200, device.state())
                case "queue":
                    self._json(200, {"current": device.current, "waiting": device.waiting})
                case "recent":
                    self._json(200, device.recent[:50])
                case "voices":
                    self._json(200, device.voices)
                case "styles":
                    self._json(200, STYLES)
                case "events":
                    self._events()
                case _:
                    self._refuse(404, "not_found", "there is nothing here")

    def do_POST(self) -> None:
        address = urllib.parse.urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = address.path.removeprefix("/api/")
        if path == "login":
            self._login(json.loads(body))
        elif path == "logout":
            self._json(200, {}, {"Set-Cookie": "session=; Max-Age=0"})
        elif not self._is_allowed():
            self._refuse(401, "unauthorized", "a token is required")
        elif path == "say":
            self._json(*self.device.say(json.loads(body)))
        elif path.startswith("command/"):
            self.device.command(path.removeprefix("command/"), json.loads(body))
            self._json(200, {})
        elif path == "voices/check":
            self.device.checked.append(len(body))
            good = {
                "check": "length",
                "level": "ok",
                "what": "4.2 s long",
                "do": None,
            }
            do = "record in a quiet room, without music, fan or echo"
            self._json(200, {"findings": [good, {**NOISY, "do": do}], "duration_s": 4.2, "level_db": -24})
        else:
            name = path.removeprefix("voices/")
            self.device.voices.append({**self.device.voices[-1], "name": name, "engine": "cosyvoice3"})
            self._json(201, {"name": name, "findings": []})

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.device.set(self.path.rsplit("/", 1)[1], json.loads(body)["value"])
        self._json(200, {})

    def do_DELETE(self) -> None:
        name = self.path.rsplit("/", 1)[1]
        self.device.voices[:] = [voice for voice in self.device.voices if voice["name"] != name]
        self._json(200, {})

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""

    def _is_allowed(self) -> bool:
        return self.token is None or f"session={self.token}" in self.headers.get("Cookie", "")

    def _login(self, body: Json) -> None:
        if body["token"] != self.token:
            self._refuse(401, "unauthorized", "the token is wrong")
        else:
            self._json(200, {}, {"Set-Cookie": f"session={self.token}; HttpOnly; SameSite=Strict; Path=/"})

    def _events(self) -> None:
        mine: queue.Queue[tuple[str, Json]] = queue.Queue()
        self.device.listeners.add(mine)
        self._head(200, {"Content-Type": "text/event-stream"})
        try:
            while not self.device.stops:
                event, data = mine.get()
                self.wfile.write(f"event: {event}\ndata: {json.dumps(data)}\n\n".encode())
        except ConnectionError:  # the page was closed
            self.close_connection = True
        finally:
            self.device.listeners.discard(mine)

    def _static(self, name: str) -> None:
        file = STATIC / name
        if not file.is_file() or STATIC not in file.resolve().parents:
            return self._refuse(404, "not_found", "there is no such file")
        content_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return self._send(200, file.read_bytes(), {"Content-Type": content_type})

    def _sound(self, wav: bytes) -> None:
        """Whole, or from a position on: browsers only seek where ranges are served."""
        asked = self.headers.get("Range", "").removeprefix("bytes=")
        start = int(asked.partition("-")[0] or 0)
        headers = {"Content-Type": "audio/wav", "Accept-Ranges": "bytes"}
        if asked:
            headers["Content-Range"] = f"bytes {start}-{len(wav) - 1}/{len(wav)}"
        self._send(206 if asked else 200, wav[start:], headers)

    def _refuse(self, status: int, code: str, error: str) -> None:
        self._json(status, {"error": error, "code": code})

    def _json(self, status: int, data: object, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(data).encode(), {"Content-Type": "application/json", **(headers or {})})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self._head(status, {**headers, "Content-Length": str(len(body))})
        try:
            self.wfile.write(body)
        except ConnectionError:  # the browser has seen enough of a sound
            self.close_connection = True

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Security-Policy": POLICY, **headers}.items():
            self.send_header(name, value)
        self.end_headers()


@contextmanager
def serve(device: Device, token: str | None = None, port: int = 0) -> Iterator[str]:
    """Serves the device on this machine; the address of its page."""
    handler = type("BoundHandler", (Handler,), {"device": device, "token": token})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    threads = [threading.Thread(target=run, daemon=True) for run in (server.serve_forever, device.speak)]
    for thread in threads:
        thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        device.stop()
        server.shutdown()
        server.server_close()
        for thread in threads:
            thread.join(timeout=5)


if __name__ == "__main__":
    with serve(Device(), port=PORT) as address:
        print(f"{address}, Ctrl-C ends it")
        threading.Event().wait()
