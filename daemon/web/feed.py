"""What listeners of the gateway hear of: every state and every result, as it is told."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from daemon.mqtt.messages import Result, State

MAX_LISTENERS = 64
MAX_UNREAD = 256  # a listener that falls further behind than this is sent away

News = State | Result
Mailbox = asyncio.Queue[News | None]  # None: there is no more news


class Feed:
    """Hands news to whoever listens; nobody waits for anybody."""

    def __init__(self) -> None:
        self._mailboxes: set[Mailbox] = set()
        self._closed = False

    @property
    def is_full(self) -> bool:
        return self._closed or len(self._mailboxes) >= MAX_LISTENERS

    def tell(self, news: News) -> None:
        for mailbox in tuple(self._mailboxes):
            if mailbox.qsize() < MAX_UNREAD:
                mailbox.put_nowait(news)
            else:
                self._end(mailbox)

    @contextmanager
    def listen(self) -> Iterator[Mailbox]:
        """A mailbox that gets all news from now on."""
        mailbox: Mailbox = asyncio.Queue()
        self._mailboxes.add(mailbox)
        if self._closed:
            self._end(mailbox)
        try:
            yield mailbox
        finally:
            self._mailboxes.discard(mailbox)

    def close(self) -> None:
        """Sends all listeners away."""
        self._closed = True
        for mailbox in tuple(self._mailboxes):
            self._end(mailbox)

    def _end(self, mailbox: Mailbox) -> None:
        self._mailboxes.discard(mailbox)
        mailbox.put_nowait(None)
