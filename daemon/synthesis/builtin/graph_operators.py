"""Slow groups of operators in Kokoro's graph, each put as something that onnxruntime does fast.

Every function replaces all groups of its kind and returns how many there were.
"""

import numpy as np
from onnx import NodeProto, helper

from daemon.synthesis.builtin.graph_editor import GraphEditor, attribute

MIN_CHANNELS = 8  # below this a convolution costs nothing and stays

# Of c1 * s + c2 * s**2 + c3 * s**3 against sin(pi * sqrt(s))**2 for s up to 1/4: fitted so that the
# largest error is least, 8e-4.
SNAKE = (9.8017715, -30.766957, 30.291916)

STFT_RESIDUE = 1e-30  # far below any bin's magnitude, far above the smallest float32


def convolutions(editor: GraphEditor, signed: bool) -> int:
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


def normalisations(editor: GraphEditor) -> int:
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


def snakes(editor: GraphEditor) -> int:
    """sin(a * x) ** 2 on one thread becomes a polynomial on all of them.

    With t the distance of a * x / pi from the nearest integer, sin(a * x) ** 2 = sin(pi * t) ** 2 is a
    smooth function of t * t; what the polynomial misses is far below the 8 bits that follow.
    """
    node = helper.make_node
    found = [power for power in editor.nodes if power.op_type == "Pow" and _is_snake(editor, power)]
    for power in found:
        sine = editor.maker[power.input[0]]
        multiply = editor.maker[sine.input[0]]
        factor, x = sorted(multiply.input, key=editor.is_constant, reverse=True)
        name = power.name
        turns = editor.constant(f"{name}.turns", (editor.value(factor) / np.pi).astype(np.float32))
        c1, c2, c3 = (editor.constant(f"snake.c{degree}", np.float32(c)) for degree, c in enumerate(SNAKE, 1))
        editor.replace(
            [multiply, sine, power],
            [
                node("Mul", [x, turns], [f"{name}.phase"]),
                node("Round", [f"{name}.phase"], [f"{name}.nearest"]),
                node("Sub", [f"{name}.phase", f"{name}.nearest"], [f"{name}.t"]),
                node("Mul", [f"{name}.t", f"{name}.t"], [f"{name}.tt"]),
                node("Mul", [f"{name}.tt", c3], [f"{name}.p3"]),
                node("Add", [f"{name}.p3", c2], [f"{name}.s2"]),
                node("Mul", [f"{name}.s2", f"{name}.tt"], [f"{name}.p2"]),
                node("Add", [f"{name}.p2", c1], [f"{name}.s1"]),
                node("Mul", [f"{name}.s1", f"{name}.tt"], [power.output[0]]),
            ],
        )
    return len(found)


def _is_snake(editor: GraphEditor, power: NodeProto) -> bool:
    """Whether this is Mul by a constant -> Sin -> Pow 2, each used once."""
    sine = editor.maker.get(power.input[0])
    multiply = editor.maker.get(sine.input[0]) if sine is not None and sine.op_type == "Sin" else None
    return (
        multiply is not None
        and multiply.op_type == "Mul"
        and sum(editor.is_constant(name) for name in multiply.input) == 1
        and len(editor.users[multiply.output[0]]) == len(editor.users[power.input[0]]) == 1
        and editor.is_constant(power.input[1])
        and bool(editor.value(power.input[1]) == 2)
    )


def spectrum(editor: GraphEditor) -> int:
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
