"""Who may do what: pure decisions."""

import pytest

from daemon.web.access import MAX_SESSIONS, SESSION_S, Access, Asked, Sessions, client_of, host_name

TOKEN = "a-token-of-some-length"
JSON = "application/json"


def status(access: Access, **asked: str) -> int:
    refusal = access.refusal(
        Asked(**{"method": "GET", "path": "/api/state", "host": "localhost:7860", **asked})
    )
    return 200 if refusal is None else refusal.status


OPEN = Access("127.0.0.1", None, Sessions())
CLOSED = Access("0.0.0.0", TOKEN, Sessions())


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:7860", "127.0.0.1:7860", "[::1]:7860", "LOCALHOST."]
)
def test_this_machine_needs_no_token(host: str) -> None:
    assert status(OPEN, host=host) == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "", "localhost.evil.example", "127.0.0.1.evil.example", "[::1]x"]
)
def test_a_name_that_is_not_ours_is_refused_without_a_token(host: str) -> None:
    assert status(OPEN, host=host) == 403


def test_a_name_that_is_not_ours_is_fine_where_a_token_is_needed() -> None:
    assert status(CLOSED, host="voice.example", authorization=f"Bearer {TOKEN}") == 200


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer é\ud800"]
)
def test_a_wrong_token_is_none(given: str) -> None:
    assert status(CLOSED, authorization=given) == 401


def test_the_page_itself_needs_no_token_so_that_one_can_log_in() -> None:
    for path in ("/", "/assets/index-abc.js"):
        assert status(CLOSED, path=path) == 200
    assert status(CLOSED, path="/api/login", method="POST", content_type=JSON) == 200
    for path in ("/outputs/a.wav", "/metrics", "/openapi.json", "/cosyvoice/generate", "//", "/api/events"):
        assert status(CLOSED, path=path) == 401


def test_a_session_is_as_good_as_the_token_until_it_ends() -> None:
    now_s = [0.0]
    sessions = Sessions(lambda: now_s[0])
    access = Access("127.0.0.1", TOKEN, sessions)
    session = sessions.open()
    assert status(access, session=session) == 200
    now_s[0] = SESSION_S + 1.0
    assert status(access, session=session) == 401
    session = sessions.open()
    sessions.close(session)
    assert status(access, session=session) == 401


def test_sessions_are_bounded() -> None:
    sessions = Sessions()
    first = sessions.open()
    last = [sessions.open() for _ in range(MAX_SESSIONS)][-1]
    assert not sessions.knows(first)
    assert sessions.knows(last)


def test_another_sites_page_may_not_make_a_browser_ask() -> None:
    for method in ("GET", "POST", "PUT", "DELETE"):
        assert status(OPEN, method=method, origin="http://evil.example", content_type=JSON) == 403
        assert status(OPEN, method=method, site="cross-site", content_type=JSON) == 403
    assert status(OPEN, method="POST", origin="null", content_type=JSON) == 403
    assert status(OPEN, path="/", site="cross-site") == 200  # a link to the page


def test_a_token_that_a_proxy_adds_does_not_help_another_sites_page() -> None:
    given = {"authorization": f"Bearer {TOKEN}", "host": "voice.example", "content_type": JSON}
    assert status(CLOSED, method="POST", origin="https://evil.example", **given) == 403
    assert status(CLOSED, method="POST", origin="https://voice.example", **given) == 200


def test_our_own_page_may_ask() -> None:
    assert status(OPEN, method="POST", origin="http://localhost:7860", content_type="audio/wav") == 200
    assert status(OPEN, method="POST", origin="http://localhost:9999", content_type=JSON) == 403


def test_a_body_that_a_form_can_send_needs_an_origin() -> None:
    for kind in ("text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", ""):
        assert status(OPEN, method="POST", content_type=kind) == 415
    assert status(OPEN, method="POST", content_type="audio/wav") == 200
    assert status(OPEN, method="POST", path="/api/command/stop") == 200
    assert status(OPEN, method="DELETE") == 200


def test_hosts_and_clients_are_told_apart() -> None:
    assert host_name("[::1]:7860") == "[::1]"
    assert client_of("::ffff:192.0.2.1") == client_of("192.0.2.1") == "192.0.2.1"
    assert client_of("2001:db8::1") == client_of("2001:db8::2") != client_of("2001:db8:0:1::1")
    assert client_of("testclient") == client_of(None) == ""
