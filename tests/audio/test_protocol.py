import io
from typing import Any, get_args

import msgspec
import pytest

from daemon.audio.protocol import FROM_PLAYER, TO_PLAYER, PlayerMessage, SpeakerMessage
from daemon.children.frames import Codec, Frame

EXAMPLES: dict[Any, Any] = {int: 7, float: 0.5, str: "text", bytes: b"\x00\x01", dict[str, Any]: {"a": 1}}


def _example(kind: type[Frame]) -> Frame:
    return kind(*(EXAMPLES[field.type] for field in msgspec.structs.fields(kind)))


@pytest.mark.parametrize(
    ("kind", "codec"),
    [(kind, FROM_PLAYER) for kind in get_args(PlayerMessage)]
    + [(kind, TO_PLAYER) for kind in get_args(SpeakerMessage)],
)
def test_every_message_survives_the_pipe(kind: type[Frame], codec: Codec[Frame]) -> None:
    message = _example(kind)
    assert codec.read_blocking(io.BytesIO(codec.encode(message))) == message
