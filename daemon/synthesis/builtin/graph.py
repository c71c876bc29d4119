"""Kokoro's graph, rewritten once so that the same weights speak twice as fast.

onnxruntime multiplies quantised matrices three times faster than it does quantised convolutions, which
fill most of Kokoro's time. Here each convolution becomes a matrix product over gathered windows (the
same integers), each spelled-out normalisation one operator, the direct STFT a convolution. Kokoro
begins and ends with up to 1.5 s of silence: it is cropped before the decoder, where the time goes. The
new input `pitch` scales the melody.

Runs in a process of its own (`python -m daemon.synthesis.builtin.graph SOURCE TARGET`), so that the
memory which rewriting takes is gone afterwards.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from daemon.synthesis.builtin import graph_operators as operators
from daemon.synthesis.builtin.graph_editor import GraphEditor
from daemon.synthesis.builtin.graph_recipe import signed_weights_pay

VOICED_FROM_HZ = 40.0  # predicted F0 is about 3 to 13 Hz where there is no voice

# Predicted log energy: -9 in silence, 5 to 10 in speech; what is 40 dB below the loudest has about -2
# (measured on four voices), so nothing that can be heard is cropped.
AUDIBLE_ENERGY = -5.0
MARGIN_FRAMES = 3  # of 25 ms: unvoiced onsets, fading ends, and what the decoder's convolutions see

# Values in kokoro-v1.0.int8.onnx.
FEATURES = "/encoder/MatMul_1_output_0"  # (1, 512, frames) float32
F0 = "/encoder/Squeeze_output_0"  # (1, 2 * frames) float32, Hz
ENERGY = "/encoder/Squeeze_1_output_0"  # (1, 2 * frames) float32, log


def rewrite(source: Path, target: Path, signed: bool) -> None:
    """Writes the rewritten form of the joined model `source`. Raises `ValueError` on an unknown graph."""
    model = onnx.load(str(source))
    editor = GraphEditor(model.graph)
    done = (
        operators.convolutions(editor, signed),
        operators.normalisations(editor),
        operators.snakes(editor),
        operators.spectrum(editor),
    )
    if not all(done):
        raise ValueError(f"{source.name} is not the graph that this rewriting was made for")
    _crop(editor)
    editor.finish()
    onnx.save(model, str(target))


def _crop(editor: GraphEditor) -> None:
    """Keeps the frames from the first to the last that sounds, and a margin, before the costly decoder."""
    node = helper.make_node
    zero, two = editor.constant("crop.0", np.array([0])), editor.constant("crop.2", np.array([2]))
    margin = editor.constant("crop.margin", np.array([MARGIN_FRAMES]))
    beyond = editor.constant("crop.beyond", np.array([MARGIN_FRAMES + 1]))
    time = editor.constant("axis.1", np.array([1]))
    energy, f0, features = (editor.rename(value) for value in (ENERGY, F0, FEATURES))
    editor.add(
        node(
            "Greater",
            [energy, editor.constant("crop.audible", np.float32(AUDIBLE_ENERGY))],
            ["crop.audible?"],
        ),
        node("Cast", ["crop.audible?"], ["crop.sounds"], to=TensorProto.INT32),
        node("ArgMax", ["crop.sounds"], ["crop.first"], axis=1, keepdims=0),
        node("ArgMax", ["crop.sounds"], ["crop.last"], axis=1, keepdims=0, select_last_index=1),
        node("Div", ["crop.first", two], ["crop.first_frame"]),
        node("Div", ["crop.last", two], ["crop.last_frame"]),
        node("Sub", ["crop.first_frame", margin], ["crop.unclamped"]),
        node("Max", ["crop.unclamped", zero], ["crop.start"]),
        node("Add", ["crop.last_frame", beyond], ["crop.end"]),
        node("Mul", ["crop.start", two], ["crop.start_half"]),
        node("Mul", ["crop.end", two], ["crop.end_half"]),
        node("Slice", [features, "crop.start", "crop.end", two], [FEATURES]),
        node("Slice", [energy, "crop.start_half", "crop.end_half", time], [ENERGY]),
        node("Slice", [f0, "crop.start_half", "crop.end_half", time], ["crop.f0"]),
    )
    _pitch(editor, "crop.f0")


def _pitch(editor: GraphEditor, f0: str) -> None:
    """Adds the input `pitch`: (2,) float32, factors on F0 and on its distance from the piece's mean."""
    editor.add_input("pitch", TensorProto.FLOAT, [2])
    node = helper.make_node
    voiced_from = editor.constant("pitch.voiced_from", np.float32(VOICED_FROM_HZ))
    one = editor.constant("pitch.one", np.float32(1))
    first = editor.constant("scalar.0", np.array(0))
    second = editor.constant("scalar.1", np.array(1))
    editor.add(
        node("Greater", [f0, voiced_from], ["pitch.voiced"]),
        node("Cast", ["pitch.voiced"], ["pitch.weight"], to=TensorProto.FLOAT),
        node("Mul", [f0, "pitch.weight"], ["pitch.weighted"]),
        node("ReduceSum", ["pitch.weighted"], ["pitch.sum"], keepdims=0),
        node("ReduceSum", ["pitch.weight"], ["pitch.count"], keepdims=0),
        node("Max", ["pitch.count", one], ["pitch.divisor"]),
        node("Div", ["pitch.sum", "pitch.divisor"], ["pitch.mean"]),
        node("Gather", ["pitch", first], ["pitch.shift"]),
        node("Gather", ["pitch", second], ["pitch.range"]),
        node("Sub", [f0, "pitch.mean"], ["pitch.distance"]),
        node("Mul", ["pitch.distance", "pitch.range"], ["pitch.stretched"]),
        node("Add", ["pitch.stretched", "pitch.mean"], ["pitch.ranged"]),
        node("Mul", ["pitch.ranged", "pitch.shift"], ["pitch.shifted"]),
        node("Where", ["pitch.voiced", "pitch.shifted", f0], [F0]),
    )


if __name__ == "__main__":
    rewrite(Path(sys.argv[1]), Path(sys.argv[2]), signed_weights_pay())
