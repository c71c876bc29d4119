"""`cosyvoiced outputs`: the WAV files that results name, and which of them go."""

import errno
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from daemon import config as options
from daemon import configfile
from daemon.audio.wav import WavError
from daemon.commands.shown import amount, counted, local_time, printable, size, utc_time
from daemon.config import Config, Store
from daemon.errors import CosyvoicedError
from daemon.storage import prune
from daemon.storage.disk import MIB
from daemon.storage.prune import Contents, Failure, Pruned, Stored
from daemon.storage.soundness import whole_clip
from daemon.watch import sensors

_FORBIDDEN = (os.strerror(errno.EACCES), os.strerror(errno.EPERM))


class Output(NamedTuple):
    stored: Stored
    duration_s: float | None  # None: it cannot be played
    problem: str | None


def list_outputs(path: Path, as_json: bool) -> int:
    """Prints the WAV files, least recently used first. Raises `CosyvoicedError`."""
    config = configfile.load(path, ready=False)
    folder = options.outputs_dir(config)
    contents = _look(folder)
    by_use = sorted(contents.wavs, key=lambda file: file.used_wall_s)
    outputs = [output for output in map(_examine, by_use) if output is not None]
    total_bytes = sum(output.stored.bytes for output in outputs)
    if as_json:
        _print_json(
            folder=str(folder),
            files=[
                {**_fields(output.stored), "duration_s": output.duration_s, "problem": output.problem}
                for output in outputs
            ],
            total_bytes=total_bytes,
            limits=_limits(config),
        )
    else:
        for file, duration_s, problem in outputs:
            length = "-" if duration_s is None else f"{duration_s:.1f} s"
            note = f": {printable(problem)}" if problem else ""
            print(f"{_line(file, f'{length:>9}')}{note}")
        print(f"total   {amount(len(outputs), total_bytes)} in {printable(str(folder))}")
        print(f"limits  {_limits_in_words(config)}")
    for failure in contents.failures:
        print(f"cosyvoiced: {printable(str(failure.path))}: {failure.reason}", file=sys.stderr)
    return 0


def prune_outputs(path: Path, dry_run: bool, as_json: bool) -> int:
    """Deletes what is over the limits now, by the daemon's rules.

    Beside a running daemon this is safe: what a result named lately is spared by its date. The phrase
    cache is only told of: the daemon alone knows which phrases it is playing.

    Raises:
        CosyvoicedError: the folder cannot be read, or a file cannot be deleted.
    """
    config = configfile.load(path, ready=False)
    folder = options.outputs_dir(config)
    _look(folder)
    short_bytes = prune.shortfall_bytes(sensors.disk_free_bytes(folder), config.watch.disk.prune_mib)
    pruned = prune.sweep(folder, config.outputs, short_bytes=short_bytes, dry_run=dry_run)
    cache = options.phrases_dir(config, dict(os.environ))
    if as_json:
        _print_json(
            folder=str(folder),
            dry_run=dry_run,
            removed=[_fields(file) for file in pruned.removed],
            freed_bytes=pruned.freed_bytes,
            kept_files=len(pruned.kept),
            kept_bytes=pruned.kept_bytes,
            kept_as_recent=_recent(pruned, config.outputs),
            short_bytes=max(0, short_bytes - pruned.freed_bytes),
            failures=[{"path": str(file), "reason": reason} for file, reason in pruned.failures],
            limits=_limits(config),
            phrases=_cache_fields(cache),
        )
    else:
        for file in pruned.removed:
            print(_line(file))
        did, kept = ("would go", "would stay") if dry_run else ("deleted", "kept")
        print(f"{did:12}  {amount(len(pruned.removed), pruned.freed_bytes)}")
        print(f"{kept:12}  {amount(len(pruned.kept), pruned.kept_bytes)} in {printable(str(folder))}")
        if excess := _excess(pruned, config, short_bytes):
            print(f"still over    {'; '.join(excess)}{_excuse(pruned, config.outputs)}")
        print(f"limits        {_limits_in_words(config)}")
        print(f"phrase cache  {_cache_in_words(cache)}")
    if pruned.failures:
        raise CosyvoicedError(_complaint(pruned.failures))
    return 0


def _look(folder: Path) -> Contents:
    try:
        return prune.look(folder)
    except OSError as error:
        where = f"{printable(str(folder))} (outputs.path)"
        raise CosyvoicedError(f"the folder {where} cannot be read: {error.strerror}") from error


def _examine(file: Stored) -> Output | None:
    """What is in a file; None when it was deleted meanwhile."""
    try:
        return Output(file, round(whole_clip(file.path).duration_s, 3), None)
    except FileNotFoundError:
        return None
    except WavError as error:
        return Output(file, None, f"damaged: it {str(error).removeprefix(f'{file.path} ').rstrip(': ')}")
    except OSError as error:
        return Output(file, None, f"cannot be read: {error.strerror}")


def _excess(pruned: Pruned, config: Config, short_bytes: int) -> list[str]:
    """Which limits are not met all the same."""
    limits, short_bytes = config.outputs, short_bytes - pruned.freed_bytes
    excess = []
    if pruned.kept_bytes > limits.max_mib * MIB:
        excess.append(f"{size(pruned.kept_bytes)} instead of {limits.max_mib} MiB")
    if len(pruned.kept) > limits.max_files:
        excess.append(f"{counted(len(pruned.kept), 'file')} instead of {limits.max_files}")
    if short_bytes > 0:
        excess.append(f"the disk lacks {size(short_bytes)} of {config.watch.disk.prune_mib} MiB free")
    return excess


def _recent(pruned: Pruned, limits: Store) -> int:
    now_wall_s = time.time()
    return sum(prune.is_recent(file, limits, now_wall_s) for file in pruned.kept)


def _excuse(pruned: Pruned, limits: Store) -> str:
    recent = _recent(pruned, limits)
    return (
        f"; {recent} from the last {limits.keep_recent_s:g} s stay (outputs.keep_recent_s)" if recent else ""
    )


def _complaint(failures: list[Failure]) -> str:
    first, more = failures[0], len(failures) - 1
    others = f", and {more} more" if more else ""
    advice = "; run this as the user whose files they are" if first.reason in _FORBIDDEN else ""
    return f"{printable(str(first.path))} cannot be deleted: {first.reason}{others}{advice}"


def _cache_fields(folder: Path) -> dict[str, Any]:
    try:
        files = prune.scan(folder)
    except OSError as error:
        return {"folder": str(folder), "phrases": None, "bytes": None, "problem": error.strerror}
    total_bytes = sum(file.bytes for file in files)
    return {"folder": str(folder), "phrases": len(files), "bytes": total_bytes, "problem": None}


def _cache_in_words(folder: Path) -> str:
    cache, where = _cache_fields(folder), printable(str(folder))
    if cache["problem"] is not None:
        return f"{where} cannot be read: {cache['problem']}"
    return (
        f"{amount(cache['phrases'], cache['bytes'], 'phrase')} in {where}; the daemon prunes it each minute"
    )


def _limits(config: Config) -> dict[str, Any]:
    fields = {**msgspec.to_builtins(config.outputs), "min_free_mib": config.watch.disk.prune_mib}
    return {name: value for name, value in fields.items() if name != "path"}


def _limits_in_words(config: Config) -> str:
    limits, min_free_mib = config.outputs, config.watch.disk.prune_mib
    words = [f"{limits.max_mib} MiB", counted(limits.max_files, "file"), f"{limits.max_age_days:g} days"]
    return ", ".join(words + ([f"{min_free_mib} MiB of the disk free"] if min_free_mib else []))


def _fields(file: Stored) -> dict[str, Any]:
    return {"path": str(file.path), "used_at": utc_time(file.used_wall_s), "bytes": file.bytes}


def _line(file: Stored, between: str = "") -> str:
    return f"{local_time(file.used_wall_s):19} {between} {size(file.bytes):>10}  {printable(file.path.name)}"


def _print_json(**fields: Any) -> None:
    # Escaped, as a file's name may not be UTF-8: a program gets it back as it is.
    print(json.dumps(fields, indent=2))
