"""Replaces groups of nodes in an ONNX graph while its order and its names stay valid."""

from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import GraphProto, NodeProto, helper, numpy_helper


def attribute(node: NodeProto, name: str) -> Any:
    """The value of an attribute that the node must have. Raises `KeyError`."""
    for candidate in node.attribute:
        if candidate.name == name:
            return helper.get_attribute_value(candidate)
    raise KeyError(f"{node.name} has no attribute {name}")


class GraphEditor:
    """Collects replacements by value name; `finish` writes them into the graph, without what is unused."""

    def __init__(self, graph: GraphProto) -> None:
        self._graph = graph
        self.nodes: list[NodeProto] = list(graph.node)
        self.maker: dict[str, NodeProto] = {output: node for node in self.nodes for output in node.output}
        self.users: dict[str, list[NodeProto]] = {}
        for node in self.nodes:
            for name in node.input:
                self.users.setdefault(name, []).append(node)
        self._constants = {tensor.name: tensor for tensor in graph.initializer}
        self._added: list[NodeProto] = []
        self._dropped: set[int] = set()  # by identity: nodes are mutable messages

    def is_constant(self, name: str) -> bool:
        return name in self._constants

    def value(self, name: str) -> npt.NDArray[Any]:
        return numpy_helper.to_array(self._constants[name])

    def constant(self, name: str, value: npt.ArrayLike) -> str:
        """Adds a constant, unless one of this name is there; returns the name."""
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.array(value, order="C"), name)
        return name

    def add(self, *new: NodeProto) -> None:
        self._added += new

    def replace(self, old: list[NodeProto], new: list[NodeProto]) -> None:
        """Drops `old`; the last of `new` makes what the last of `old` made."""
        self._dropped.update(id(node) for node in old)
        self.add(*new)

    def rename(self, value: str) -> str:
        """Gives `value` a new name, which is returned, at its maker: another node may then make `value`."""
        former = f"{value}.former"
        for index, output in enumerate(self.maker[value].output):
            if output == value:
                self.maker[value].output[index] = former
        return former

    def add_input(self, name: str, element: int, shape: list[int | str]) -> None:
        self._graph.input.append(helper.make_tensor_value_info(name, element, shape))

    def finish(self) -> None:
        nodes = [node for node in self.nodes if id(node) not in self._dropped] + self._added
        kept = _ordered(nodes, [output.name for output in self._graph.output])
        used = {name for node in kept for name in node.input}
        tensors = [tensor for name, tensor in self._constants.items() if name in used]
        del self._graph.node[:]
        self._graph.node.extend(kept)
        del self._graph.initializer[:]
        self._graph.initializer.extend(tensors)


def _ordered(nodes: list[NodeProto], outputs: list[str]) -> list[NodeProto]:
    """The nodes that the outputs need, each behind the makers of its inputs (ONNX demands this order)."""
    maker = {output: node for node in nodes for output in node.output}
    ordered: list[NodeProto] = []
    seen: set[int] = set()
    stack = [(maker[output], False) for output in outputs]
    while stack:
        node, inputs_done = stack.pop()
        if inputs_done:
            ordered.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((maker[name], False) for name in node.input if name in maker)
    return ordered
