"""The part of `cosyvoiced doctor` that looks at the device: heat, power, memory, swap, kernel and disk."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from cosyvoice.weights import manifest
from daemon import config as options
from daemon.commands import doctor_advice, doctor_model
from daemon.commands.finding import Finding
from daemon.config import Config
from daemon.watch import memory, power, sensors, temperature, tree
from daemon.watch.memory import Memory
from daemon.watch.power import Power

MIB = 2**20
LOW_DISK_BYTES = 500 * MIB
LOW_MEMORY_BYTES = 600 * MIB  # the worker with both built-in models, and room to breathe

_COOLING = "give it air, a heat sink or a fan"
_SUPPLY = "use the official supply (27 W, 5 A for a Raspberry Pi 5; 15 W, 3 A for a Pi 4) and its own cable"


def examine(config: Config) -> Iterator[Finding]:
    root = Path(config.watch.root)
    known = memory.read(root)
    yield _heat(config, root)
    yield from _power(power.read(root, since_boot=True))
    yield _memory(config, known)
    yield from _swap(config, root, known)
    yield from _kernel(root)
    yield from _disk(config)


def _heat(config: Config, root: Path) -> Finding:
    named, heat = config.watch.sensor, config.watch.heat
    sensor = temperature.hottest(root, named)
    if sensor is None and named is not None:
        names = ", ".join(dict.fromkeys(sensor.name for sensor in sensors.list_sensors(root)))
        return Finding(
            part="heat",
            level="problem",
            what=f"watch.sensor '{named}' says nothing; these do: {names or 'none'}",
            do="name one of these in watch.sensor, or leave it null" if names else "leave watch.sensor null",
        )
    if sensor is None:
        return Finding(part="heat", level="note", what="no temperature sensor is found; heat is unknown")
    what = f"{sensor.celsius:.1f} °C by {sensor.name}"
    if sensor.celsius >= heat.critical_c:
        what += f"; from {heat.critical_c:g} °C on only what is important is said"
        return Finding(part="heat", level="problem", what=what, do=_COOLING)
    if sensor.celsius >= heat.warm_c:
        what += f"; from {heat.warm_c:g} °C on the daemon saves heat"
        return Finding(part="heat", level="note", what=what, do=_COOLING)
    return Finding(part="heat", level="ok", what=what)


def _power(known: Power) -> Iterator[Finding]:
    if known.undervoltage:
        yield Finding(part="power", level="problem", what="the power supply is too weak", do=_SUPPLY)
    elif known.undervoltage_happened:
        yield Finding(
            part="power", level="note", what="the power supply was too weak since the start", do=_SUPPLY
        )
    elif known.undervoltage is None:
        yield Finding(part="power", level="ok", what="this machine does not tell of its power supply")
    else:
        yield Finding(part="power", level="ok", what="the power supply is strong enough")
    if known.slowed or known.slowed_happened:
        what = "slows the processor now" if known.slowed else "has slowed the processor since the start"
        weak = known.undervoltage if known.slowed else known.undervoltage_happened
        yield Finding(part="power", level="note", what=f"the firmware {what}", do=None if weak else _COOLING)


def _memory(config: Config, known: Memory) -> Finding:
    free, total = known.available_bytes, known.total_bytes
    wanted = f"the built-in engine wants {LOW_MEMORY_BYTES // MIB}"
    if free is None:
        return Finding(
            part="memory", level="note", what="/proc/meminfo cannot be read; free memory is unknown"
        )
    if total is not None and total < LOW_MEMORY_BYTES:
        return Finding(
            part="memory",
            level="problem",
            what=f"this machine has {total // MIB} MiB; {wanted}",
            do="take a board with 1 GB or more",
        )
    if free < LOW_MEMORY_BYTES:
        return Finding(
            part="memory",
            level="problem",
            what=f"{free // MIB} MiB are free; {wanted}",
            do="stop other programs, or add swap",
        )
    if _may_use_cosyvoice3(config):
        wanted += f", cosyvoice3 {doctor_model.wanted_bytes(config) // MIB}"
    of_total = f" of {total // MIB}" if total is not None else ""
    return Finding(part="memory", level="ok", what=f"{free // MIB}{of_total} MiB are free; {wanted}")


def _swap(config: Config, root: Path, known: Memory) -> Iterator[Finding]:
    if known.swap_total_bytes is None:
        return
    what = f"{known.swap_total_bytes // MIB} MiB"
    if not _may_use_cosyvoice3(config):
        yield Finding(part="swap", level="ok", what=f"{what}; the built-in engine needs none")
    elif doctor_advice.is_enough_swap(known):
        yield Finding(part="swap", level="ok", what=f"{what}; cosyvoice3 needs no more here")
    else:
        yield Finding(
            part="swap",
            level="note",
            what=f"{what}; cosyvoice3 wants {doctor_advice.SWAP_MIB} while a model or a voice is made",
            do=doctor_advice.swap(root),
        )


def _may_use_cosyvoice3(config: Config) -> bool:
    folder = options.model_dir(config, options.state_dir(config, dict(os.environ)))
    return config.engine != "builtin" and manifest.exists(folder)


def _kernel(root: Path) -> Iterator[Finding]:
    """Only machines where something is off hear of it."""
    off, words = [], []
    if memory.cgroup_memory_is_on(root) is False:
        off.append("the memory cgroup is off, so systemd's memory limits do nothing")
        words += ["cgroup_enable=memory", "cgroup_memory=1"]
    if memory.psi_is_on(root) is False:
        off.append("PSI is off, so it is not seen how long programs wait for memory")
        words += ["psi=1"]
    if off:
        present = (tree.text(root / "proc/cmdline") or "").split()
        missing = " ".join(word for word in words if word not in present)
        do = (
            doctor_advice.kernel_words(root, missing)
            if missing
            else "update the system: its kernel lacks them"
        )
        yield Finding(part="kernel", level="note", what="; ".join(off), do=do)


def _disk(config: Config) -> Iterator[Finding]:
    environment = dict(os.environ)
    yield _folder(config, "outputs", options.outputs_dir(config))
    yield _folder(config, "state", options.state_dir(config, environment))


def _folder(config: Config, name: str, folder: Path) -> Finding:
    disk = config.watch.disk
    existing = next(parent for parent in (folder, *folder.parents) if os.path.exists(parent))
    free = sensors.disk_free_bytes(folder)
    if not os.access(existing, os.W_OK):
        return Finding(
            part="disk",
            level="problem",
            what=f"{name}: {folder} cannot be written",
            do=f'sudo chown -R "$USER" {shlex.quote(str(existing))}',
        )
    if free is None:
        return Finding(part="disk", level="note", what=f"{name}: the free space of {folder} is unknown")
    what = f"{name}: {free // MIB} MiB free at {folder}"
    if free < disk.refuse_mib * MIB:
        what += f"; below {disk.refuse_mib} no new file is written"
    elif free < disk.prune_mib * MIB:
        what += f"; below {disk.prune_mib} old files go before their time"
    elif free >= LOW_DISK_BYTES:
        return Finding(part="disk", level="ok", what=f"{name}: {free / 2**30:.1f} GiB free at {folder}")
    return Finding(part="disk", level="problem", what=what, do="free some space")
