"""The command line: `cosyvoiced run|say|check-config|doctor|voices|bench`.

Exit codes: 0 all is well; 1 the announcement or a check failed; 2 the command line is wrong;
3 no broker or no daemon answers; 78 the configuration is wrong.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from daemon import __version__
from daemon.configfile import ConfigError
from daemon.errors import CosyvoicedError
from daemon.mqtt.intake import MAX_ID_LENGTH

EXIT_FAILED = 1
EXIT_NO_ANSWER = 3
EXIT_CONFIG = 78  # sysexits.h EX_CONFIG; systemd does not restart on it

DEFAULT_CONFIG = Path("config/cosyvoiced.yaml")
SYSTEM_CONFIG = Path("/etc/cosyvoiced/cosyvoiced.yaml")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; its exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.command(options)
    except ConfigError as error:
        for problem in error.problems:
            print(f"cosyvoiced: {problem}", file=sys.stderr)
        return EXIT_CONFIG
    except CosyvoicedError as error:
        print(f"cosyvoiced: {error}", file=sys.stderr)
        return EXIT_NO_ANSWER if type(error).__name__ == "CallError" else EXIT_FAILED
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `cosyvoiced voices list | head`
        return EXIT_FAILED
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="cosyvoiced",
        description="Offline voice announcements over MQTT.",
        epilog="exit codes: 0 well, 1 failed, 2 wrong command line, 3 no answer, 78 wrong configuration",
    )
    parser.add_argument("--version", action="version", version=f"cosyvoiced {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    run = _command(commands, "run", "run the daemon", _run)
    run.add_argument(
        "--once", type=_text, metavar="TEXT", help="say one thing, print its result as JSON, and leave"
    )
    run.add_argument("--greet", action="store_true", help="announce itself once it is online")

    say = _command(commands, "say", "have a running daemon say something, and wait for the result", _say)
    say.add_argument("text", type=_text, help="what to say")
    for name, what in (
        ("style", "a preset such as excited, slow, cantonese"),
        ("voice", "a voice's name, see `cosyvoiced voices list`"),
        ("language", "zh, en, ja; guessed when left out"),
        ("priority", "important, message, text, notification or progress"),
        ("output", "speaker, file or both"),
        ("chime", "a chime's name"),
    ):
        say.add_argument(f"--{name}", help=what)
    say.add_argument("--id", type=_id, help="an id of your own")
    say.add_argument("--speed", type=float, help="0.5 to 2.0")
    say.add_argument("--volume", type=int, help="0 to 100")
    say.add_argument("--seed", type=int, help="same seed, same samples")
    say.add_argument("--local", action="store_true", help="without a broker and without a running daemon")
    say.add_argument("--timeout", type=_seconds, default=300.0, metavar="S", help="seconds to wait (300)")

    _command(commands, "check-config", "check the configuration file", _check_config)
    doctor = _command(commands, "doctor", "look at everything that speech needs", _doctor)
    doctor.add_argument("--json", action="store_true", help="for programs")
    voices = _command(commands, "voices", "list the voices", _voices)
    voices.add_argument("action", nargs="?", choices=["list"], default="list")
    voices.add_argument("--json", action="store_true", help="for programs")
    bench = _command(commands, "bench", "measure speed and memory on this machine", _bench)
    bench.add_argument("--json", action="store_true", help="for programs")
    bench.add_argument(
        "--runs", type=int, default=7, metavar="N", help="runs of each measurement, 1 to 19 (7)"
    )
    return parser


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, what: str, function: object
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help=f"default: {DEFAULT_CONFIG}, else {SYSTEM_CONFIG}"
    )
    parser.set_defaults(command=function)
    return parser


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise argparse.ArgumentTypeError("is not UTF-8 text") from error
    return text


def _id(text: str) -> str:
    if not 1 <= len(text) <= MAX_ID_LENGTH:
        raise argparse.ArgumentTypeError(f"must have 1 to {MAX_ID_LENGTH} characters")
    return text


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError("must be a number of seconds above 0")
    return seconds


def config_path(options: argparse.Namespace) -> Path:
    """The configuration file in force."""
    if options.config is not None:
        return Path(options.config)
    return SYSTEM_CONFIG if not DEFAULT_CONFIG.exists() and SYSTEM_CONFIG.exists() else DEFAULT_CONFIG


# Each command's code is imported when it is called, so that one does not pay for the others.


def _run(options: argparse.Namespace) -> int:
    from daemon.commands import run

    return run.run(config_path(options), once=options.once, greet=options.greet)


def _say(options: argparse.Namespace) -> int:
    from daemon.commands import say

    names = (
        "text",
        "style",
        "voice",
        "language",
        "priority",
        "output",
        "chime",
        "id",
        "speed",
        "volume",
        "seed",
    )
    fields = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    return say.say(config_path(options), fields, local=options.local, deadline_s=options.timeout)


def _check_config(options: argparse.Namespace) -> int:
    from daemon import configfile

    path = config_path(options)
    configfile.load(path)
    print(f"{path}: all is well")
    return 0


def _doctor(options: argparse.Namespace) -> int:
    from daemon.commands import doctor

    return doctor.doctor(config_path(options), as_json=options.json)


def _voices(options: argparse.Namespace) -> int:
    from daemon.commands import voices

    return voices.list_voices(config_path(options), as_json=options.json)


def _bench(options: argparse.Namespace) -> int:
    from daemon.commands import bench

    return bench.bench(options.runs, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
