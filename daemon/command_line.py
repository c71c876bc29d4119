"""The command line's words: which commands, options and actions there are."""

import argparse
import functools
from pathlib import Path

from daemon import __version__
from daemon.argument_types import count, identifier, language, seconds, text

DEFAULT_CONFIG = Path("config/cosyvoiced.yaml")
SYSTEM_CONFIG = Path("/etc/cosyvoiced/cosyvoiced.yaml")


def parser() -> argparse.ArgumentParser:
    command_line = argparse.ArgumentParser(
        prog="cosyvoiced",
        description="Offline voice announcements over MQTT.",
        epilog="exit codes: 0 well, 1 failed, 2 wrong command line, 3 no answer, 78 wrong configuration",
    )
    command_line.add_argument("--version", action="version", version=f"cosyvoiced {__version__}")
    commands = command_line.add_subparsers(metavar="COMMAND", required=True)

    run = _command(commands, "run", "run the daemon")
    run.add_argument(
        "--once", type=text, metavar="TEXT", help="say one thing, print its result as JSON, and leave"
    )
    run.add_argument("--greet", action="store_true", help="announce itself once it is online")

    say = _command(commands, "say", "have a running daemon say something, and wait for the result")
    say.add_argument("text", type=text, help="what to say")
    for name, what in (
        ("style", "a preset such as excited, slow, cantonese"),
        ("voice", "a voice's name, see `cosyvoiced voices list`"),
        ("language", "zh, en, ja; guessed when left out"),
        ("priority", "important, message, text, notification or progress"),
        ("output", "speaker, file or both"),
        ("chime", "a chime's name"),
    ):
        say.add_argument(f"--{name}", help=what)
    say.add_argument("--id", type=identifier, help="an id of your own")
    say.add_argument("--speed", type=float, help="0.5 to 2.0")
    say.add_argument("--volume", type=int, help="0 to 100")
    say.add_argument("--seed", type=int, help="same seed, same samples")
    say.add_argument("--local", action="store_true", help="without a broker and without a running daemon")
    say.add_argument("--timeout", type=seconds, default=300.0, metavar="S", help="seconds to wait (300)")

    _command(commands, "check-config", "check the configuration file")
    doctor = _command(commands, "doctor", "look at everything that speech needs")
    doctor.add_argument("--json", action="store_true", help="for programs")
    status = _command(commands, "status", "show how a running daemon is")
    shape = status.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="for programs")
    shape.add_argument("--prometheus", action="store_true", help="as Prometheus text, for a collector")
    status.add_argument("--timeout", type=seconds, default=10.0, metavar="S", help="seconds to wait (10)")
    _voices_actions(commands)
    _model_actions(commands)
    _outputs_actions(commands)
    _discovery_actions(commands)
    install = _command(commands, "install", "write the systemd unit, and say how to start it")
    whose = install.add_mutually_exclusive_group(required=True)
    whose.add_argument("--system", action="store_true", help="for the whole device: starts at boot, ALSA")
    whose.add_argument("--user", action="store_true", help="for the one logged in: PipeWire")
    install.add_argument("--dry-run", action="store_true", help="only show what would be written and run")
    bench = _command(commands, "bench", "measure speed and memory on this machine")
    bench.add_argument("--json", action="store_true", help="for programs")
    bench.add_argument(
        "--runs", type=int, default=7, metavar="N", help="runs of each measurement, 1 to 19 (7)"
    )
    bench.add_argument("--engine", choices=["builtin", "cosyvoice3"], default="builtin", help="(builtin)")
    weights = bench.add_mutually_exclusive_group()
    weights.add_argument("--published", type=Path, metavar="DIR", help="cosyvoice3: the folder as published")
    weights.add_argument(
        "--random-weights", action="store_true", help="cosyvoice3: weights of the same size that say nothing"
    )
    bench.add_argument("--threads", type=count, default=2, metavar="N", help="cosyvoice3: CPU threads (2)")
    bench.add_argument("--plot", type=Path, metavar="FILE.png", help="cosyvoice3: draw the stages' shares")
    return command_line


def _voices_actions(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = _command(commands, "voices", "list, add, check or remove voices")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(action="list")
    actions = parser.add_subparsers(metavar="ACTION")

    def action(name: str, what: str) -> argparse.ArgumentParser:
        # What stands before the action must not be forgotten for the action's own default.
        command = _command(actions, name, what, action_of="voices", config=argparse.SUPPRESS)
        command.set_defaults(action=name)
        return command

    listing = action("list", "list all voices, and which of them cannot speak yet")
    show = action("show", "show what is known of a voice")
    for shown in (listing, show):
        shown.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="for programs")
    add = action("add", "make a voice of a recording of 3 to 10 seconds (WAV, FLAC, MP3 or OGG)")
    add.add_argument("name", help="its name from now on: a-z, 0-9, - and _ or Chinese characters")
    add.add_argument("recording", type=Path, metavar="FILE", help="one person, in a quiet room")
    add.add_argument("--text", type=text, required=True, help="word for word what is said in it")
    add.add_argument("--language", type=language, metavar="CODE", help="zh, en, ...; guessed when left out")
    add.add_argument("--gender", choices=["f", "m"], help="for lists")
    add.add_argument(
        "--until", dest="until_s", type=seconds, metavar="S", help="use the recording up to the pause there"
    )
    add.add_argument("--force", action="store_true", help="in spite of what the checks find")
    add.add_argument("--replace", action="store_true", help="in place of the voice of this name")
    test = action("test", "have a voice say something, without a running daemon")
    remove = action("remove", "delete an added voice")
    for named in (show, test, remove):
        named.add_argument("name", help="see `cosyvoiced voices list`")
    test.add_argument("text", type=text, nargs="?", help="default: a greeting in its language")


def _model_actions(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    what = "make, check or show CosyVoice3's model folder"
    parser = commands.add_parser("model", help=what, description=what[0].upper() + what[1:] + ".")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    action = functools.partial(_command, actions, action_of="model")
    prepare = action("prepare", "make the int8 folder of a published one")
    prepare.add_argument("source", type=Path, metavar="DIR", help="the folder as published")
    prepare.add_argument(
        "--to", type=Path, metavar="DIR", help="default: cosyvoice3.model in the configuration"
    )
    prepare.add_argument("--no-enrolment", action="store_true", help="save 1 GB; no voice can be added then")
    tune = action("tune", "measure again which kernels are fastest on this machine")
    for timed in (prepare, tune):
        timed.add_argument("--threads", type=int, metavar="N", help="default: as the worker has")
    verify = action("verify", "read every byte of a model folder and check it")
    info = action("info", "show what a prepared folder is")
    info.add_argument("--json", action="store_true", help="for programs")
    for named in (tune, verify, info):
        named.add_argument("folder", nargs="?", type=Path, metavar="DIR", help="default: as of prepare --to")
    random = action("random", "write random weights as if published, for tests")
    random.add_argument("folder", type=Path, metavar="DIR", help="a new folder")
    random.add_argument(
        "--size", choices=["tiny", "full"], required=True, help="9 MB, or 3.4 GB as published"
    )
    random.add_argument("--seed", type=int, default=0, metavar="N", help="same seed, same weights (0)")


def _outputs_actions(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    what = "list the WAV files, or delete what the limits say"
    parser = commands.add_parser("outputs", help=what, description=what[0].upper() + what[1:] + ".")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    action = functools.partial(_command, actions, action_of="outputs")
    listing = action("list", "list the WAV files, oldest use first")
    prune = action("prune", "delete what is over the limits of the configuration now")
    prune.add_argument("--dry-run", action="store_true", help="only show what would go")
    for shown in (listing, prune):
        shown.add_argument("--json", action="store_true", help="for programs")


def _discovery_actions(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    what = "show what Home Assistant is told of this device, or have it forgotten"
    parser = commands.add_parser("discovery", help=what, description=what[0].upper() + what[1:] + ".")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    action = functools.partial(_command, actions, action_of="discovery")
    action("show", "print the discovery message as JSON")
    action("forget", "clear it at the broker, so that the device goes away")


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    what: str,
    *,
    action_of: str | None = None,
    config: str | None = None,
) -> argparse.ArgumentParser:
    """A command, or the action of one, which is then what `options.command` says."""
    parser = commands.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
    parser.add_argument(
        "--config",
        type=Path,
        default=config,
        metavar="FILE",
        help=f"default: {DEFAULT_CONFIG}, else {SYSTEM_CONFIG}",
    )
    parser.set_defaults(command=action_of or name)
    return parser
