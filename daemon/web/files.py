"""WAV files for players that seek, and the page."""

import asyncio
import os
import re
import stat
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from daemon.web.refusals import Refusal, WebCode

PAGE = Path(__file__).parent / "static"
_WAV_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,127}\.wav")  # as `Outputs.path_for` makes them


class WavFiles:
    """The files of one folder, by name: no way leads out of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def wav(self, request: Request) -> Response:
        """Raises `Refusal` (404)."""
        name = request.path_params["name"]
        missing = Refusal(404, WebCode.NOT_FOUND, "there is no such file; old ones are pruned")
        if not _WAV_NAME.fullmatch(name):
            raise missing
        path = self._folder / name
        try:
            status = await asyncio.to_thread(os.lstat, path)
        except OSError as error:
            raise missing from error
        if not stat.S_ISREG(status.st_mode):  # a link may lead anywhere
            raise missing
        headers = {"Cache-Control": "private, no-cache"}
        response = FileResponse(path, headers=headers, media_type="audio/wav", stat_result=status)
        if request.headers.get("if-none-match") == response.headers["etag"]:
            return Response(status_code=304, headers={**headers, "ETag": response.headers["etag"]})
        return response


class Page(StaticFiles):
    """The built page; its assets carry their hash in their names."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        is_hashed = path.startswith("assets")
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if is_hashed else "no-cache"
        return response
