"""A scripted child process: `python -m tests.fakes.child STEP...` takes its steps one by one."""

import os
import signal
import subprocess
import sys
import time

from daemon.children.frames import Codec, Frame, NotReady, Ready
from daemon.children.parent import claim_stdio


class Say(Frame, frozen=True):
    """A message in either direction."""

    text: str


CODEC: Codec[Ready | NotReady | Say] = Codec(Ready | NotReady | Say)
FAR_TOO_LONG = b"\xff\xff\xff\xff"


def main(steps: list[str]) -> None:
    frames_descriptor = os.dup(1)
    parent = claim_stdio(CODEC)
    for step in steps:
        name, _, argument = step.partition("=")
        match name:
            case "ready":
                parent.send(Ready({"pid": os.getpid()}))
            case "refuse":
                parent.send(NotReady(argument))
            case "say":
                parent.send(Say(argument))
            case "echo":  # every message, until the daemon leaves
                while isinstance(message := parent.receive(), Say):
                    parent.send(message)
            case "slowly":  # one message in two halves
                data = CODEC.encode(Say(argument))
                for half in (data[:6], data[6:]):
                    os.write(frames_descriptor, half)
                    time.sleep(0.3)
            case "flood":  # more than any buffer takes: the rest waits for a reader
                parent.send(Say("x" * 10_000_000))
            case "garbage":
                os.write(frames_descriptor, FAR_TOO_LONG)
            case "truncate":
                os.write(frames_descriptor, CODEC.encode(Say("whole"))[:-2])
            case "foreign":
                os.write(frames_descriptor, b"\x00\x00\x00\x01\xc0")
            case "print":
                print(argument)
                os.write(1, b"written to file descriptor 1\n")
            case "complain":
                print(argument, file=sys.stderr)
            case "orphan":
                subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({argument})"])
            case "stubborn":
                time.sleep(600)
            case "freeze":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "exit":
                os._exit(int(argument))
            case _:
                raise ValueError(f"unknown step {step}")


if __name__ == "__main__":
    main(sys.argv[1:])
