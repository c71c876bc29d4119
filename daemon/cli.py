"""The command line: runs what `command_line.py` has read.

Exit codes: 0 all is well; 1 the announcement or a check failed; 2 the command line is wrong;
3 no broker or no daemon answers; 78 the configuration is wrong.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from cosyvoice.errors import CosyVoiceError
from daemon.command_line import DEFAULT_CONFIG, SYSTEM_CONFIG, parser
from daemon.configfile import ConfigError
from daemon.errors import CosyvoicedError

EXIT_FAILED = 1
EXIT_NO_ANSWER = 3
EXIT_CONFIG = 78  # sysexits.h EX_CONFIG; systemd does not restart on it


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; its exit code."""
    options = parser().parse_args(arguments)
    try:
        code = _COMMANDS[options.command](options)
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


def _status(options: argparse.Namespace) -> int:
    from daemon.commands import status

    shape: status.Shape = "json" if options.json else "prometheus" if options.prometheus else "text"
    return status.status(config_path(options), shape, options.timeout)


def _outputs(options: argparse.Namespace) -> int:
    from daemon.commands import outputs

    if options.action == "list":
        return outputs.list_outputs(config_path(options), as_json=options.json)
    return outputs.prune_outputs(config_path(options), dry_run=options.dry_run, as_json=options.json)


def _discovery(options: argparse.Namespace) -> int:
    from daemon.commands import discovery

    return (discovery.show if options.action == "show" else discovery.forget)(config_path(options))


def _install(options: argparse.Namespace) -> int:
    from daemon.commands import install

    return install.install("system" if options.system else "user", dry_run=options.dry_run)


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "run": _run,
    "say": _say,
    "status": _status,
    "check-config": _check_config,
    "doctor": _doctor,
    "voices": _voices,
    "model": _model,
    "outputs": _outputs,
    "discovery": _discovery,
    "bench": _bench,
    "install": _install,
}


if __name__ == "__main__":
    sys.exit(main())
