"""The file of topics that may hold a discovery message."""

import logging
from pathlib import Path

import pytest

from daemon.homeassistant.record import FILE, Record

TOPIC = "homeassistant/device/cosyvoiced_kitchen/config"


def test_topics_are_kept_until_they_are_removed(tmp_path: Path) -> None:
    record = Record(tmp_path)
    assert record.topics() == frozenset()
    record.add(TOPIC)
    record.add("other/device/cosyvoiced_kitchen/config")
    record.remove("other/device/cosyvoiced_kitchen/config")
    record.remove("never/there")
    assert Record(tmp_path).topics() == {TOPIC}


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'["a/#"]', b'[""]', b"\xff"])
def test_a_damaged_file_is_no_topic_and_a_line_in_the_log(
    content: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE).write_bytes(content)
    assert Record(tmp_path).topics() == frozenset()
    assert "cannot be read" in caplog.text


def test_a_folder_that_cannot_be_written_is_a_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        Record(tmp_path / "missing").add(TOPIC)
    assert "may be left over" in caplog.text
