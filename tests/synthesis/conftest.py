import pytest


@pytest.fixture(autouse=True)
def leaves_no_process(no_process_left: None) -> None:
    """Every test of this folder ends the processes that it started."""
