"""Small random networks with the inputs and outputs of the two published ONNX files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from cosyvoice.config import SPEAKER_DIM

_FBANK_BINS = 80
_LOG_MEL_BINS = 128
_FRAMES_PER_TOKEN = 4  # 100 frames/s of log-mel, 25 tokens/s
_LEVELS, _DIGITS = 3, 8  # the codebook is every number of eight digits of three levels: 3**8 = 6561
_CHANNELS = 64
_OPSET = 17
_IR_VERSION = 8  # what onnx wrote with that opset; any onnxruntime of these years reads it

Floats = NDArray[np.float32]


def write_speaker_encoder(path: Path, seed: int) -> None:
    """`campplus.onnx`: (1, T, 80) float32 Kaldi fbank -> (1, 192) float32. Raises `OSError`."""
    random = np.random.default_rng((seed, 1))
    weights = {
        "filters": _normal(random, _CHANNELS, _FBANK_BINS, 3),
        "project": _normal(random, SPEAKER_DIM, 2 * _CHANNELS),
    }
    nodes = [
        helper.make_node("Transpose", ["input"], ["bins"], perm=[0, 2, 1]),
        helper.make_node("Conv", ["bins", "filters"], ["raw"], pads=[1, 1]),
        helper.make_node("Relu", ["raw"], ["features"]),
        # A voice is told by how its features are spread, not by when they come.
        helper.make_node("ReduceMean", ["features"], ["mean"], axes=[2], keepdims=0),
        helper.make_node("ReduceL2", ["features"], ["sum"], axes=[2], keepdims=0),
        helper.make_node("Log", ["sum"], ["spread"]),
        helper.make_node("Concat", ["mean", "spread"], ["statistics"], axis=1),
        helper.make_node("Gemm", ["statistics", "project"], ["output"], transB=1),
    ]
    inputs = [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, "T", _FBANK_BINS])]
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, SPEAKER_DIM])
    _save(path, "speaker_encoder", nodes, weights, inputs, output)


def write_speech_tokenizer(path: Path, seed: int) -> None:
    """`speech_tokenizer_v3.onnx`: (1, 128, T) float32 log-mel and its length (1,) int32 -> (1, T/4) ids.

    Like the real one it rounds eight numbers to three levels each and reads them as the digits of an id.

    Raises:
        OSError: the file cannot be written.
    """
    random = np.random.default_rng((seed, 2))
    weights: dict[str, NDArray[Any]] = {
        "filters": 4 * _normal(random, _DIGITS, _LOG_MEL_BINS, _FRAMES_PER_TOKEN),
        "place_values": np.array([_LEVELS**place for place in range(_DIGITS)], np.float32).reshape(1, -1, 1),
        "one": np.array(1, np.float32),
        "zeros": np.array([0], np.int32),
        "frame_axis": np.array([2], np.int32),
        "digit_axis": np.array([1], np.int64),
    }
    nodes = [
        helper.make_node("Slice", ["feats", "zeros", "feats_length", "frame_axis"], ["heard"]),
        helper.make_node("Conv", ["heard", "filters"], ["raw"], strides=[_FRAMES_PER_TOKEN]),
        helper.make_node("Tanh", ["raw"], ["bounded"]),
        helper.make_node("Round", ["bounded"], ["levels"]),
        helper.make_node("Add", ["levels", "one"], ["digits"]),
        helper.make_node("Mul", ["digits", "place_values"], ["parts"]),
        helper.make_node("ReduceSum", ["parts", "digit_axis"], ["ids"], keepdims=0),
        helper.make_node("Cast", ["ids"], ["indices"], to=TensorProto.INT32),
    ]
    inputs = [
        helper.make_tensor_value_info("feats", TensorProto.FLOAT, [1, _LOG_MEL_BINS, "T"]),
        helper.make_tensor_value_info("feats_length", TensorProto.INT32, [1]),
    ]
    output = helper.make_tensor_value_info("indices", TensorProto.INT32, [1, "T/4"])
    _save(path, "speech_tokenizer", nodes, weights, inputs, output)


def _normal(random: np.random.Generator, *shape: int) -> Floats:
    fan_in = int(np.prod(shape[1:]))
    values: Floats = (random.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32)
    return values


def _save(
    path: Path,
    name: str,
    nodes: list[onnx.NodeProto],
    weights: Mapping[str, NDArray[Any]],
    inputs: list[onnx.ValueInfoProto],
    output: onnx.ValueInfoProto,
) -> None:
    initializers = [numpy_helper.from_array(values, key) for key, values in weights.items()]
    graph = helper.make_graph(nodes, name, inputs, [output], initializers)
    opsets = [helper.make_opsetid("", _OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
