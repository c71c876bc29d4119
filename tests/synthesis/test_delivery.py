import asyncio
import itertools

from hypothesis import given
from hypothesis import strategies as st

from daemon.synthesis.delivery import Delivery
from daemon.synthesis.protocol import Speech


async def drained(delivery: Delivery) -> list[Speech]:
    pieces = []
    while (piece := await delivery.next()) is not None:
        pieces.append(piece)
    return pieces


def cut(pcm: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({min(edge, len(pcm)) for edge in cuts} | {0, len(pcm)})
    return [pcm[start:end] for start, end in itertools.pairwise(edges)]


@given(
    st.binary(max_size=200), st.lists(st.integers(0, 200)), st.lists(st.integers(0, 200)), st.integers(0, 200)
)
def test_a_second_attempt_adds_only_what_is_new_however_it_is_cut(
    pcm: bytes, first_cuts: list[int], second_cuts: list[int], died_after: int
) -> None:
    async def main() -> bytes:
        delivery = Delivery()
        delivery.begin_attempt()
        for data in cut(pcm[:died_after], first_cuts):
            delivery.take(Speech(1, data))
        delivery.begin_attempt()
        for data in cut(pcm, second_cuts):
            delivery.take(Speech(2, data))
        delivery.end_attempt()
        delivery.close()
        return b"".join(piece.pcm for piece in await drained(delivery))

    assert asyncio.run(main()) == pcm


async def test_a_piece_without_sound_still_tells_what_was_degraded() -> None:
    delivery = Delivery()
    delivery.begin_attempt()
    delivery.take(Speech(1, b"", ("style",)))
    delivery.close()
    assert await drained(delivery) == [Speech(1, b"", ("style",))]
