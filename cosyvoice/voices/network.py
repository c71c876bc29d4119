"""The two ONNX networks of enrolment, opened and run with errors that say what to do."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt
import onnxruntime

from cosyvoice.errors import ModelError

_ERRORS_ONLY = 3  # onnxruntime's severity


def load(path: Path, threads: int) -> onnxruntime.InferenceSession:
    """Opens a network for one short use. Raises `ModelError`."""
    require(path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    options.enable_cpu_mem_arena = False  # an arena keeps its peak, and nothing is run twice
    options.add_session_config_entry("session.disable_prepacking", "1")  # it copies the weights
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no base class but Exception
        raise ModelError([f"{path} cannot be loaded: {_first_line(error)}"]) from error


def require(path: Path) -> None:
    """Raises `ModelError`: the network's file is not there."""
    if not path.is_file():
        raise ModelError([f"{path} is missing; run `cosyvoiced model prepare`, without --no-enrolment"])


def run(session: onnxruntime.InferenceSession, name: str, inputs: Sequence[npt.NDArray[Any]]) -> Any:
    """All outputs of the network for its inputs in order. Raises `ModelError`."""
    names = [node.name for node in session.get_inputs()]
    if len(names) != len(inputs):
        raise ModelError([f"{name} has {len(names)} inputs instead of {len(inputs)}: it is another network"])
    try:
        return session.run(None, dict(zip(names, inputs, strict=True)))
    except Exception as error:
        raise ModelError([f"{name} cannot be run: {_first_line(error)}"]) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]
