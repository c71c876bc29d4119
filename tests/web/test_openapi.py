"""The real server holds what its OpenAPI document says, whatever it is asked."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi import checks

from daemon.web.server import Server
from tests.mqtt.mosquitto import free_port
from tests.web.house import House, a_house

DEADLINE_S = 20.0
EXAMPLES = 25  # of each operation
CHECKS = (
    *(not_a_server_error, checks.status_code_conformance, checks.content_type_conformance),
    checks.response_schema_conformance,
)
MIN_PATHS = {GenerationMode.POSITIVE: 15, GenerationMode.NEGATIVE: 6}


@contextmanager
def served(folder: Path, port: int) -> Iterator[None]:
    """A gateway at a real port, in a thread of its own; what is queued is finished at once."""
    up, ended = threading.Event(), threading.Event()

    async def finish(house: House) -> None:
        while True:
            await house.finish_next()

    async def run() -> None:
        async with a_house(folder, rate_per_min=6000) as (house, _):
            server = Server(house.app, "127.0.0.1", port)
            finishing = asyncio.create_task(finish(house))
            await server.start()
            up.set()
            await asyncio.to_thread(ended.wait)
            house.feed.close()
            await server.stop()
            finishing.cancel()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    try:
        assert up.wait(DEADLINE_S)
        yield
    finally:
        ended.set()
        thread.join(DEADLINE_S)
        assert not thread.is_alive()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_operation_answers_as_documented(tmp_path: Path, mode: GenerationMode) -> None:
    port, asked = free_port(), set()
    with served(tmp_path, port):
        schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{port}/openapi.json")
        for found in schema.get_all_operations():
            assert isinstance(found, Ok)
            operation = found.ok()
            if mode == GenerationMode.NEGATIVE and not (operation.body or operation.query):
                continue  # nothing can be wrong

            @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
            @given(case=operation.as_strategy(generation_mode=mode))
            def ask(case: Any) -> None:
                response = case.call(timeout=DEADLINE_S)
                case.validate_response(response, checks=list(CHECKS))
                asked.add((case.method, case.path, response.status_code))

            ask()
    statuses = {status for _, _, status in asked}
    assert (200 if mode == GenerationMode.POSITIVE else 400) in statuses
    assert len({path for _, path, _ in asked}) >= MIN_PATHS[mode]
