"""Limits of one client, and of all."""

import pytest

from daemon.web.refusals import Refusal
from daemon.web.turnstile import MAX_AT_ONCE, MAX_AT_ONCE_PER_CLIENT, MAX_CLIENTS, Rate, Turnstile


def test_a_minutes_allowance_may_be_used_at_once_and_comes_back() -> None:
    now_s = [0.0]
    rate = Rate(60, lambda: now_s[0])
    for _ in range(60):
        rate.take("a")
    with pytest.raises(Refusal, match="60 requests a minute") as refused:
        rate.take("a")
    assert refused.value.status == 429
    assert refused.value.retry_after_s == pytest.approx(1.0)
    rate.take("b")
    now_s[0] = 1.1
    rate.take("a")


def test_only_so_many_clients_are_remembered() -> None:
    rate = Rate(1, lambda: 0.0)
    for number in range(MAX_CLIENTS + 1):
        rate.take(str(number))
    rate.take("0")
    with pytest.raises(Refusal):
        rate.take(str(MAX_CLIENTS))


def test_one_client_leaves_room_for_others() -> None:
    turnstile = Turnstile(Rate(1000))
    inside = [turnstile.enter("a") for _ in range(MAX_AT_ONCE_PER_CLIENT)]
    for one in inside:
        one.__enter__()
    with pytest.raises(Refusal) as refused, turnstile.enter("a"):
        pass
    assert refused.value.status == 429
    with turnstile.enter("b"):
        pass
    inside[0].__exit__(None, None, None)
    with turnstile.enter("a"):
        pass


def test_all_together_have_a_limit() -> None:
    turnstile = Turnstile(Rate(1000))
    inside = [turnstile.enter(str(number)) for number in range(MAX_AT_ONCE)]
    for one in inside:
        one.__enter__()
    with pytest.raises(Refusal) as refused, turnstile.enter("late"):
        pass
    assert refused.value.status == 503
