"""Settings survive a restart, and a damaged file costs only itself."""

from pathlib import Path

from daemon.storage.settings import Settings, SettingsStore


def test_settings_survive(tmp_path: Path) -> None:
    store = SettingsStore(tmp_path / "settings.json")
    store.load()
    assert store.current == Settings()
    store.save(Settings(volume=30, do_not_disturb=True))
    again = SettingsStore(tmp_path / "settings.json")
    again.load()
    assert again.current == Settings(volume=30, do_not_disturb=True)


def test_a_damaged_file_means_defaults(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"volume": "lo')
    store = SettingsStore(path)
    store.load()
    assert store.current == Settings()


def test_a_folder_that_is_gone_costs_the_file_and_not_the_setting(tmp_path: Path) -> None:
    store = SettingsStore(tmp_path / "gone" / "settings.json")
    store.save(Settings(volume=10))
    assert store.current.volume == 10
