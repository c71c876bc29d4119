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
from onnx import NodeProto, TensorProto, helper

from daemon.synthesis.builtin.graph_editor import GraphEditor, attribute
from daemon.synthesis.builtin.graph_recipe import signed_weights_pay

VOICED_FROM_HZ = 40.0  # predicted F0 is about 3 to 13 Hz where there is no voice
MIN_CHANNELS = 8  # below this a convolution costs nothing and stays

# Predicted log energy: -9 in silence, 5 to 10 in speech; what is 40 dB below the loudest has about -2
# (measured on four voices), so nothing that can be heard is cropped.
AUDIBLE_ENERGY = -5.0
MARGIN_FRAMES = 3  # of 25 ms: unvoiced onsets, fading ends, and what the decoder's convolutions see

STFT_RESIDUE = 1e-30  # far below any bin's magnitude, far above the smallest float32

# Values in kokoro-v1.0.int8.onnx.
FEATURES = "/encoder/MatMul_1_output_0"  # (1, 512, frames) float32
F0 = "/encoder/Squeeze_output_0"  # (1, 2 * frames) float32, Hz
ENERGY = "/encoder/Squeeze_1_output_0"  # (1, 2 * frames) float32, log


def rewrite(source: Path, target: Path, signed: bool) -> None:
    """Writes the rewritten form of the joined model `source`. Raises `ValueError` on an unknown graph."""
    model = onnx.load(str(source))
    editor = GraphEditor(model.graph)
    done = (
        _convolutions(editor, signed),
        _normalisations(editor),
        _squares(editor),
        _spectrum(editor),
    )
    if not all(done):
        raise ValueError(f"{source.name} is not the graph that this rewriting was made for")
    _crop(editor)
    editor.finish()
    onnx.save(model, str(target))


def _convolutions(editor: GraphEditor, signed: bool) -> int:
    """ConvInteger -> [Add bias] -> Cast -> Mul scale becomes windows, a matrix product, a transposition."""
    found = [node for node in editor.nodes if node.op_type == "ConvInteger" and _is_plain(editor, node)]
    for conv in found:
        _, weight, x_zero, weight_zero = conv.input
        chain = [conv]
        bias: list[str] = []
        if editor.users[conv.output[0]][0].op_type == "Add":
            add = editor.users[conv.output[0]][0]
            chain.append(add)
            bias = [_float_bias(editor, add)]
        cast = editor.users[chain[-1].output[0]][0]
        rescale = editor.users[cast.output[0]][0]
        x_scale, weight_scale = editor.maker[rescale.input[1]].input
        chain += [cast, rescale]

        kernel = editor.value(weight)  # (out, in, taps) uint8
        zero = editor.value(weight_zero)
        if signed:
            kernel = (kernel.astype(np.int16) - 128).astype(np.int8)
            zero = (zero.astype(np.int16) - 128).astype(np.int8)
        matrix = editor.constant(f"{conv.name}.matrix", kernel.transpose(2, 1, 0).reshape(-1, len(kernel)))
        matrix_zero = editor.constant(f"{conv.name}.zero", zero)
        columns = f"{conv.name}.columns"
        editor.replace(
            chain,
            [
                *_windows(editor, conv, kernel.shape[1], kernel.shape[2], columns),
                helper.make_node(
                    "MatMulIntegerToFloat",
                    [columns, matrix, x_scale, weight_scale, x_zero, matrix_zero, *bias],
                    [f"{conv.name}.product"],
                    domain="com.microsoft",
                ),
                helper.make_node("Transpose", [f"{conv.name}.product"], [rescale.output[0]], perm=[0, 2, 1]),
            ],
        )
    return len(found)


def _is_plain(editor: GraphEditor, conv: NodeProto) -> bool:
    """Stride 1, one group, "same" padding, and enough channels to be worth it."""
    out, _, taps = editor.value(conv.input[1]).shape
    same = attribute(conv, "dilations")[0] * (taps - 1) // 2
    return bool(
        attribute(conv, "strides") == [1]
        and attribute(conv, "group") == 1
        and attribute(conv, "pads") == [same, same]
        and out >= MIN_CHANNELS
    )


def _float_bias(editor: GraphEditor, add: NodeProto) -> str:
    """The bias before it was quantised on the fly: Div -> Floor -> Cast -> Reshape -> Add."""
    node = editor.maker[add.input[1]]
    while node.op_type != "Div":
        node = editor.maker[node.input[0]]
    return str(node.input[0])


def _windows(editor: GraphEditor, conv: NodeProto, channels: int, taps: int, output: str) -> list[NodeProto]:
    """(1, channels, frames) uint8 -> (1, frames, taps * channels): what each output frame looks at."""
    x, zero, name = conv.input[0], conv.input[2], conv.name
    if taps == 1:
        return [helper.make_node("Transpose", [x], [output], perm=[0, 2, 1])]
    dilation = attribute(conv, "dilations")[0]
    pad = attribute(conv, "pads")[0]
    pads = editor.constant(f"pads.{pad}", np.array([0, pad, 0, 0, pad, 0]))
    offsets = editor.constant(f"offsets.{taps}.{dilation}", dilation * np.arange(taps)[None])
    shape = editor.constant(f"shape.{taps}.{channels}", np.array([1, -1, taps * channels]))
    start = editor.constant("scalar.0", np.array(0))
    step = editor.constant("scalar.1", np.array(1))
    axis = editor.constant("axis.1", np.array([1]))
    return [
        helper.make_node("Transpose", [x], [f"{name}.rows"], perm=[0, 2, 1]),
        helper.make_node("Pad", [f"{name}.rows", pads, zero], [f"{name}.padded"]),
        helper.make_node("Shape", [x], [f"{name}.shape"], start=2, end=3),
        helper.make_node("Squeeze", [f"{name}.shape"], [f"{name}.frames"]),
        helper.make_node("Range", [start, f"{name}.frames", step], [f"{name}.range"]),
        helper.make_node("Unsqueeze", [f"{name}.range", axis], [f"{name}.first"]),
        helper.make_node("Add", [f"{name}.first", offsets], [f"{name}.index"]),
        helper.make_node("Gather", [f"{name}.padded", f"{name}.index"], [f"{name}.windows"], axis=1),
        helper.make_node("Reshape", [f"{name}.windows", shape], [output]),
    ]


def _normalisations(editor: GraphEditor) -> int:
    """(x - mean) / sqrt(mean((x - mean)^2) + e) * gain + offset, nine operators, becomes one."""
    count = 0
    flat = editor.constant("shape.flat", np.array([-1]))
    for divide in editor.nodes:
        if divide.op_type != "Div":
            continue
        subtract, root = (editor.maker.get(name) for name in divide.input)
        if subtract is None or root is None or (subtract.op_type, root.op_type) != ("Sub", "Sqrt"):
            continue
        mean = editor.maker[subtract.input[1]]
        if editor.value(mean.input[1]).tolist() != [2]:
            continue  # normalised along another axis, in the small encoder
        epsilon = editor.maker[root.input[0]].input[1]
        for multiply in editor.users[divide.output[0]]:
            add = editor.users[multiply.output[0]][0]
            gain = next(name for name in multiply.input if name != divide.output[0])
            offset = next(name for name in add.input if name != multiply.output[0])
            name = multiply.name
            editor.replace(
                [multiply, add],
                [
                    helper.make_node("Reshape", [gain, flat], [f"{name}.gain"]),
                    helper.make_node("Reshape", [offset, flat], [f"{name}.offset"]),
                    helper.make_node(
                        "InstanceNormalization",
                        [subtract.input[0], f"{name}.gain", f"{name}.offset"],
                        [add.output[0]],
                        epsilon=float(editor.value(epsilon)),
                    ),
                ],
            )
            count += 1
    return count


def _squares(editor: GraphEditor) -> int:
    """x ** 2 becomes x * x."""
    found = [
        node
        for node in editor.nodes
        if node.op_type == "Pow" and editor.is_constant(node.input[1]) and editor.value(node.input[1]) == 2
    ]
    for power in found:
        x = power.input[0]
        editor.replace([power], [helper.make_node("Mul", [x, x], [power.output[0]])])
    return len(found)


def _spectrum(editor: GraphEditor) -> int:
    """The direct STFT of 20 samples becomes a convolution with its windowed cosines and sines."""
    found = [node for node in editor.nodes if node.op_type == "STFT"]
    for stft in found:
        signal, hop, window, _ = stft.input
        w = editor.value(window).astype(np.float64)
        bins = len(w) // 2 + 1
        phase = 2 * np.pi / len(w) * np.arange(bins)[:, None] * np.arange(len(w))
        basis = np.concatenate([np.cos(phase) * w, -np.sin(phase) * w])[:, None].astype(np.float32)
        # The first and the last bin are real. The stock STFT leaves rounding there, whose sign decides
        # between the phases pi and -pi, and the decoder hears that: the signs that it leaves are kept.
        basis[[bins, -1]] = 0.0
        signs = np.zeros(2 * bins, np.float32)
        signs[[bins, -1]] = STFT_RESIDUE, -STFT_RESIDUE
        editor.replace(
            [stft],
            [
                helper.make_node(
                    "Unsqueeze", [signal, editor.constant("axis.1", np.array([1]))], ["stft.signal"]
                ),
                helper.make_node(
                    "Conv",
                    [
                        "stft.signal",
                        editor.constant("stft.basis", basis),
                        editor.constant("stft.signs", signs),
                    ],
                    ["stft.stacked"],
                    strides=[int(editor.value(hop))],
                ),
                helper.make_node(
                    "Reshape",
                    ["stft.stacked", editor.constant("stft.shape", np.array([1, 2, bins, -1]))],
                    ["stft.parts"],
                ),
                helper.make_node("Transpose", ["stft.parts"], [stft.output[0]], perm=[0, 3, 2, 1]),
            ],
        )
    return len(found)


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
