"""The real CAM++ speaker encoder as an ONNX file, made from its published PyTorch weights.

CAM++: Wang et al. 2023, "CAM++: A fast and efficient network for speaker verification using context-aware
masking", arXiv 2303.00332. A small ResNet over the filter bank, then densely connected time-delay layers,
each masked by what it hears around it, then mean and deviation over time.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

BLOCKS = ((12, 1), (24, 2), (16, 2))  # layers and dilation of each dense block
SEGMENT_FRAMES = 100  # context of the masks
BATCH_NORM_EPSILON = 1e-5
OPSET, IR_VERSION = 17, 8  # read by every ONNX Runtime since 1.12

Array = npt.NDArray[Any]


def convert(published: Path, target: Path) -> None:
    """Writes `target`, input (1, T, 80) filter bank -> output (1, 192) embedding."""
    state = torch.load(published, map_location="cpu", weights_only=True)
    graph = _Graph({name: tensor.numpy() for name, tensor in state.items()})
    embedding = graph.encoder("input")
    graph.node("Identity", embedding, output="output")
    onnx.save(
        helper.make_model(
            helper.make_graph(
                graph.nodes,
                "campplus",
                [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, "T", 80])],
                [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 192])],
                graph.initializers,
            ),
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        ),
        target,
    )


class _Graph:
    """An ONNX graph under construction; every method adds nodes and returns its output's name."""

    def __init__(self, state: Mapping[str, Array]) -> None:
        self._state = state
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def node(self, op: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        name = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def constant(self, value: Array) -> str:
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(value, name))
        return name

    def encoder(self, x: str) -> str:
        x = self.node("Transpose", x, perm=[0, 2, 1])  # (1, 80, T)
        x = self.node("Unsqueeze", x, self._ints(1))  # (1, 1, 80, T)
        x = self._conv_norm_relu(x, "head.conv1", "head.bn1", pads=[1] * 4)
        for layer in ("head.layer1", "head.layer2"):
            x = self._residual(x, f"{layer}.0", stride=2)
            x = self._residual(x, f"{layer}.1", stride=1)
        x = self._conv_norm_relu(x, "head.conv2", "head.bn2", pads=[1] * 4, strides=[2, 1])
        x = self.node("Reshape", x, self._ints(1, 320, -1))  # (1, 320, T)
        x = self._conv(x, "xvector.tdnn.linear", strides=[2], pads=[2, 2])  # (1, 128, T/2)
        x = self._norm_relu(x, "xvector.tdnn.nonlinear.batchnorm")
        for block, (layers, dilation) in enumerate(BLOCKS, start=1):
            for number in range(1, layers + 1):
                new = self._masked_layer(x, f"xvector.block{block}.tdnnd{number}", dilation)
                x = self.node("Concat", x, new, axis=1)
            x = self._norm_relu(x, f"xvector.transit{block}.nonlinear.batchnorm")
            x = self._conv(x, f"xvector.transit{block}.linear")
        x = self._norm_relu(x, "xvector.out_nonlinear.batchnorm")
        x = self._conv(self._statistics(x), "xvector.dense.linear")  # (1, 192, 1)
        x = self._norm(x, "xvector.dense.nonlinear.batchnorm")
        return self.node("Squeeze", x, self._ints(2))

    def _residual(self, x: str, name: str, stride: int) -> str:
        strides = [stride, 1]  # over the 80 bands only
        y = self._conv_norm_relu(x, f"{name}.conv1", f"{name}.bn1", pads=[1] * 4, strides=strides)
        y = self._norm(self._conv(y, f"{name}.conv2", pads=[1] * 4), f"{name}.bn2")
        if stride > 1:
            x = self._norm(self._conv(x, f"{name}.shortcut.0", strides=strides), f"{name}.shortcut.1")
        return self.node("Relu", self.node("Add", x, y))

    def _masked_layer(self, x: str, name: str, dilation: int) -> str:
        x = self._norm_relu(x, f"{name}.nonlinear1.batchnorm")
        x = self._norm_relu(self._conv(x, f"{name}.linear1"), f"{name}.nonlinear2.batchnorm")
        y = self._conv(x, f"{name}.cam_layer.linear_local", pads=[dilation, dilation], dilations=[dilation])
        context = self.node("Add", self.node("ReduceMean", x, axes=[2]), self._segment_means(x))
        context = self.node("Relu", self._conv(context, f"{name}.cam_layer.linear1"))
        mask = self.node("Sigmoid", self._conv(context, f"{name}.cam_layer.linear2"))
        return self.node("Mul", y, mask)

    def _segment_means(self, x: str) -> str:
        """Each frame's mean over its segment of 100 frames; the last segment may be shorter."""
        frames = [SEGMENT_FRAMES]
        means = self.node("AveragePool", x, kernel_shape=frames, strides=frames, ceil_mode=1)
        repeated = self.node("Expand", self.node("Unsqueeze", means, self._ints(3)), self._ints(1, 1, 1, 100))
        flat = self.node("Reshape", repeated, self._ints(1, 128, -1))
        return self.node("Slice", flat, self._ints(0), self._length(x), self._ints(2))

    def _length(self, x: str) -> str:
        return self.node("Slice", self.node("Shape", x), self._ints(2), self._ints(3))

    def _statistics(self, x: str) -> str:
        """Mean and unbiased deviation over time: (1, C, T) -> (1, 2C, 1)."""
        mean = self.node("ReduceMean", x, axes=[2])
        squares = self.node("Pow", self.node("Sub", x, mean), self.constant(np.array(2, np.float32)))
        frames = self.node("Cast", self._length(x), to=TensorProto.FLOAT)
        freedom = self.node("Sub", frames, self.constant(np.array(1, np.float32)))
        variance = self.node("Div", self.node("ReduceSum", squares, self._ints(2)), freedom)
        return self.node("Concat", mean, self.node("Sqrt", variance), axis=1)

    def _conv_norm_relu(self, x: str, conv: str, norm: str, **attributes: list[int]) -> str:
        return self._norm_relu(self._conv(x, conv, **attributes), norm)

    def _conv(self, x: str, name: str, **attributes: Any) -> str:
        parameters = [f"{name}.weight", f"{name}.bias"]
        weights = [self.constant(self._state[p]) for p in parameters if p in self._state]
        return self.node("Conv", x, *weights, **attributes)

    def _norm_relu(self, x: str, name: str) -> str:
        return self.node("Relu", self._norm(x, name))

    def _norm(self, x: str, name: str) -> str:
        mean, variance = self._state[f"{name}.running_mean"], self._state[f"{name}.running_var"]
        scale = self._state.get(f"{name}.weight", np.ones_like(mean))
        shift = self._state.get(f"{name}.bias", np.zeros_like(mean))
        parameters = [self.constant(value) for value in (scale, shift, mean, variance)]
        return self.node("BatchNormalization", x, *parameters, epsilon=BATCH_NORM_EPSILON)

    def _ints(self, *values: int) -> str:
        return self.constant(np.array(values, dtype=np.int64))
