"""The command line: `cosyvoiced run|say|check-config|doctor|voices|model|bench`.

Exit codes: 0 all is well; 1 the announcement or a check failed; 2 the command line is wrong;
3 no broker or no daemon answers; 78 the configuration is wrong.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from cosyvoice.errors import CosyVoiceError
from daemon import __version__
from daemon.argument_types import count, identifier, language, seconds, text
from daemon.configfile import ConfigError
from daemon.errors import CosyvoicedError

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
    except CosyVoiceError as error:
        for problem in str(error).splitlines():
            print(f"cosyvoiced: {problem}", file=sys.stderr)
        return EXIT_FAILED
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
        "--once", type=text, metavar="TEXT", help="say one thing, print its result as JSON, and leave"
    )
    run.add_argument("--greet", action="store_true", help="announce itself once it is online")

    say = _command(commands, "say", "have a running daemon say something, and wait for the result", _say)
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

    _command(commands, "check-config", "check the configuration file", _check_config)
    doctor = _command(commands, "doctor", "look at everything that speech needs", _doctor)
    doctor.add_argument("--json", action="store_true", help="for programs")
    _voices_actions(commands)
    _model_actions(commands)
    bench = _command(commands, "bench", "measure speed and memory on this machine", _bench)
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
    return parser


def _voices_actions(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = _command(commands, "voices", "list, add, check or remove voices", _voices)
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(action="list")
    actions = parser.add_subparsers(metavar="ACTION")

    def action(name: str, what: str) -> argparse.ArgumentParser:
        # What stands before the action must not be forgotten for the action's own default.
        command = _command(actions, name, what, _voices, config=argparse.SUPPRESS)
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
    prepare = _command(actions, "prepare", "make the int8 folder of a published one", _model)
    prepare.add_argument("source", type=Path, metavar="DIR", help="the folder as published")
    prepare.add_argument(
        "--to", type=Path, metavar="DIR", help="default: cosyvoice3.model in the configuration"
    )
    prepare.add_argument("--no-enrolment", action="store_true", help="save 1 GB; no voice can be added then")
    tune = _command(actions, "tune", "measure again which kernels are fastest on this machine", _model)
    for timed in (prepare, tune):
        timed.add_argument("--threads", type=int, metavar="N", help="default: as the worker has")
    verify = _command(actions, "verify", "read every byte of a model folder and check it", _model)
    info = _command(actions, "info", "show what a prepared folder is", _model)
    info.add_argument("--json", action="store_true", help="for programs")
    for named in (tune, verify, info):
        named.add_argument("folder", nargs="?", type=Path, metavar="DIR", help="default: as of prepare --to")
    random = _command(actions, "random", "write random weights as if published, for tests", _model)
    random.add_argument("folder", type=Path, metavar="DIR", help="a new folder")
    random.add_argument(
        "--size", choices=["tiny", "full"], required=True, help="9 MB, or 3.4 GB as published"
    )
    random.add_argument("--seed", type=int, default=0, metavar="N", help="same seed, same weights (0)")


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    what: str,
    function: object,
    config: str | None = None,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
    parser.add_argument(
        "--config",
        type=Path,
        default=config,
        metavar="FILE",
        help=f"default: {DEFAULT_CONFIG}, else {SYSTEM_CONFIG}",
    )
    parser.set_defaults(command=function)
    return parser


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
    from daemon.commands import voice_add, voices

    path = config_path(options)
    match options.action:
        case "show":
            return voices.show(path, options.name, as_json=options.json)
        case "add":
            fields = {name: getattr(options, name) for name in voice_add.Addition._fields}
            return voice_add.add(path, voice_add.Addition(**fields))
        case "test":
            return voices.test(path, options.name, options.text)
        case "remove":
            return voices.remove(path, options.name)
    return voices.list_voices(path, as_json=options.json)


def _model(options: argparse.Namespace) -> int:
    from daemon.commands import model

    path = config_path(options)
    match options.action:
        case "prepare":
            enrolment = not options.no_enrolment
            return model.prepare(path, options.source, options.to, options.threads, enrolment=enrolment)
        case "tune":
            return model.tune(path, options.folder, options.threads)
        case "verify":
            return model.verify(path, options.folder)
        case "info":
            return model.info(path, options.folder, as_json=options.json)
    return model.random(options.folder, options.size, options.seed)


def _bench(options: argparse.Namespace) -> int:
    if options.engine == "builtin":
        from daemon.commands import bench

        return bench.bench(options.runs, as_json=options.json)
    from daemon.commands import bench_cosyvoice3

    if options.published is None and not options.random_weights:
        raise CosyvoicedError("--engine cosyvoice3 needs --published DIR or --random-weights")
    return bench_cosyvoice3.bench(
        options.published, options.threads, options.runs, as_json=options.json, plot=options.plot
    )


if __name__ == "__main__":
    sys.exit(main())
