"""News for listeners."""

from daemon.mqtt.messages import Event, Result
from daemon.web.feed import MAX_LISTENERS, MAX_UNREAD, Feed

NEWS = Result(id="one", event=Event.ACCEPTED, at="")


async def test_everybody_hears_the_same() -> None:
    feed = Feed()
    with feed.listen() as one, feed.listen() as other:
        feed.tell(NEWS)
        assert one.get_nowait() is other.get_nowait() is NEWS
    feed.tell(NEWS)
    assert one.empty()


async def test_who_falls_behind_is_sent_away() -> None:
    feed = Feed()
    with feed.listen() as slow:
        for _ in range(2 * MAX_UNREAD):
            feed.tell(NEWS)
        news = [slow.get_nowait() for _ in range(slow.qsize())]
    assert len(news) == MAX_UNREAD + 1
    assert news[-1] is None


async def test_a_closed_feed_sends_all_away() -> None:
    feed = Feed()
    with feed.listen() as before:
        feed.close()
        assert before.get_nowait() is None
    with feed.listen() as after:
        assert after.get_nowait() is None
    assert feed.is_full


async def test_listeners_are_bounded() -> None:
    feed = Feed()
    listening = [feed.listen() for _ in range(MAX_LISTENERS)]
    for one in listening:
        one.__enter__()
    assert feed.is_full
    listening[0].__exit__(None, None, None)
    assert not feed.is_full
