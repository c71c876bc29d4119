"""What goes is chosen by use, size, count, age and free space, whatever the clock does."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from daemon.config import Store
from daemon.storage.prune import Stored, choose, choose_leftovers, shortfall_bytes

MIB = 2**20
NOW_S = 1_800_000_000.0
HOUR_S = 3600.0
DAY_S = 86400.0
KEY = "ab" * 32


def stored(name: str, mib: float, age_s: float) -> Stored:
    return Stored(Path("/f") / name, int(mib * MIB), NOW_S - age_s)


def names(files: list[Stored]) -> list[str]:
    return [file.path.name for file in files]


FOLDERS = st.lists(
    st.tuples(st.integers(0, 3 * MIB), st.integers(-100 * 86400, 200 * 86400)), max_size=30
).map(lambda rows: [Stored(Path(f"/f/{n}"), size, NOW_S - age_s) for n, (size, age_s) in enumerate(rows)])
LIMITS = st.builds(
    Store,
    max_mib=st.integers(1, 10),
    max_files=st.integers(1, 20),
    max_age_days=st.integers(1, 100).map(float),
    keep_recent_s=st.sampled_from([0.0, 600.0, 2 * DAY_S]),
)


def test_the_least_recently_used_go_first_until_the_size_fits() -> None:
    files = [stored("new", 1, 10), stored("old", 1, 30), stored("middle", 1, 20)]
    assert names(choose(files, Store(max_mib=2, keep_recent_s=0), NOW_S)) == ["old"]


def test_count_and_age_are_limits_too() -> None:
    files = [stored(f"{age}", 0.1, age * DAY_S) for age in (1, 2, 3, 40)]
    assert names(choose(files, Store(max_files=3), NOW_S)) == ["40"]
    assert names(choose(files, Store(max_age_days=2.5), NOW_S)) == ["40", "3"]


def test_on_a_full_disk_so_much_goes_as_is_short() -> None:
    files = [stored(f"{age}", 1, age * HOUR_S) for age in (1, 2, 3, 4)]
    assert names(choose(files, Store(), NOW_S, short_bytes=MIB + 1)) == ["4", "3"]


def test_what_goes_for_its_age_counts_towards_what_is_short() -> None:
    files = [stored("old", 5, 40 * DAY_S), stored("new", 1, HOUR_S)]
    assert names(choose(files, Store(), NOW_S, short_bytes=5 * MIB)) == ["old"]


def test_what_was_made_lately_is_spared_even_over_the_limit() -> None:
    files = [stored("a", 5, 10), stored("b", 5, 20)]
    assert choose(files, Store(max_mib=1, keep_recent_s=60), NOW_S, short_bytes=MIB) == []


def test_an_hour_forward_costs_nothing_that_the_daemon_protects() -> None:
    files = [stored("just named", 2, HOUR_S), stored("older", 2, 2 * HOUR_S)]
    assert names(choose(files, Store(max_mib=1), NOW_S, {Path("/f/just named")})) == ["older"]


def test_an_hour_back_changes_nothing_in_the_order_of_use() -> None:
    files = [stored("older", 1, 1200 - HOUR_S), stored("oldest", 1, 2400 - HOUR_S), stored("new", 1, -HOUR_S)]
    assert names(choose(files, Store(max_files=1), NOW_S)) == ["oldest", "older"]


def test_files_with_a_false_date_cannot_fill_a_folder_for_ever() -> None:
    files = [stored("from 2099", 1, -70 * 365 * DAY_S), stored("yesterday", 1, DAY_S)]
    assert names(choose(files, Store(max_files=1), NOW_S)) == ["from 2099"]


def test_a_board_that_wakes_in_1970_keeps_all_that_fits() -> None:
    files = [stored(f"{age}", 1, age * DAY_S) for age in (1, 2, 3)]
    assert choose(files, Store(max_age_days=1), 60.0) == []
    assert names(choose(files, Store(max_files=1), 60.0)) == ["3", "2"]


@given(FOLDERS, LIMITS)
def test_what_stays_fits_unless_it_is_recent(files: list[Stored], limits: Store) -> None:
    left = set(files) - set(choose(files, limits, NOW_S))
    if all(abs(NOW_S - file.used_wall_s) >= limits.keep_recent_s for file in files):
        assert sum(file.bytes for file in left) <= limits.max_mib * MIB
        assert len(left) <= limits.max_files
        assert all(NOW_S - file.used_wall_s <= limits.max_age_days * DAY_S for file in left)


@given(FOLDERS, LIMITS, st.integers(0, 100 * MIB), st.sets(st.integers(0, 29)))
def test_nothing_goes_that_is_protected_or_recent(
    files: list[Stored], limits: Store, short_bytes: int, held: set[int]
) -> None:
    protected = [Path(f"/f/{n}") for n in held]
    doomed = choose(files, limits, NOW_S, protected, short_bytes)
    assert not {file.path for file in doomed} & set(protected)
    assert all(abs(NOW_S - file.used_wall_s) >= limits.keep_recent_s for file in doomed)


@given(FOLDERS, st.integers(0, 100 * MIB))
def test_what_is_short_is_freed_or_nothing_is_left(files: list[Stored], short_bytes: int) -> None:
    doomed = choose(files, Store(keep_recent_s=0), NOW_S, short_bytes=short_bytes)
    assert sum(file.bytes for file in doomed) >= short_bytes or len(doomed) == len(files)


@given(FOLDERS, LIMITS)
def test_no_more_goes_than_must(files: list[Stored], limits: Store) -> None:
    doomed = choose(files, limits, NOW_S)
    left = [file for file in files if file not in doomed]
    assert choose(left, limits, NOW_S) == []
    if doomed:
        assert choose([*left, doomed[-1]], limits, NOW_S) != []


@given(FOLDERS, LIMITS, st.integers(0, 100 * MIB))
def test_what_was_used_earlier_goes_earlier(files: list[Stored], limits: Store, short_bytes: int) -> None:
    past = [file for file in files if file.used_wall_s <= NOW_S]
    doomed = choose(past, limits, NOW_S, (), short_bytes)
    for stays in set(past) - set(doomed):
        if NOW_S - stays.used_wall_s >= limits.keep_recent_s:
            assert all(file.used_wall_s <= stays.used_wall_s for file in doomed)


def test_what_killed_runs_left_goes_after_an_hour() -> None:
    young, old = 0.5 * HOUR_S, 2 * HOUR_S
    files = [
        *(stored(".a.part", 1, old), stored(".b.wav.tmp", 1, -old), stored(".c.part", 1, young)),
        *(stored(f"{KEY}.json", 1, old), stored("notes.json", 1, old), stored("notes.txt", 1, old)),
    ]
    assert names(choose_leftovers(files, NOW_S, busy=False)) == [".a.part", ".b.wav.tmp", f"{KEY}.json"]


def test_a_sidecar_beside_its_wav_or_just_written_is_none() -> None:
    files = [stored(f"{KEY}.wav", 1, 2 * HOUR_S), stored(f"{KEY}.json", 1, 2 * HOUR_S)]
    assert choose_leftovers(files, NOW_S, busy=False) == []
    assert choose_leftovers([stored(f"{KEY}.json", 1, 10)], NOW_S, busy=False) == []


def test_an_announcement_on_hold_finds_its_temporary_file_again() -> None:
    assert choose_leftovers([stored(".a.part", 1, 2 * HOUR_S)], NOW_S, busy=True) == []
    assert names(choose_leftovers([stored(".a.part", 1, 2 * DAY_S)], NOW_S, busy=True)) == [".a.part"]


def test_what_is_short_is_never_negative_and_nothing_when_unknown() -> None:
    assert shortfall_bytes(100 * MIB, 256) == 156 * MIB
    assert shortfall_bytes(300 * MIB, 256) == 0
    assert shortfall_bytes(None, 256) == 0
