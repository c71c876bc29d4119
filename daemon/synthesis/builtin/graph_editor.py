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
        self._standing_in: dict[int, list[NodeProto]] = {}  # id of a node -> what follows it
        self._dropped: set[int] = set()

    def is_constant(self, name: str) -> bool:
        return name in self._constants

    def value(self, name: str) -> npt.NDArray[Any]:
        return numpy_helper.to_array(self._constants[name])

    def constant(self, name: str, value: npt.ArrayLike) -> str:
        """Adds a constant, unless one of this name is there; returns the name."""
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.array(value, order="C"), name)
        return name

    def replace(self, old: list[NodeProto], new: list[NodeProto]) -> None:
        """Puts `new` where the last of `old` stood."""
        self._standing_in[id(old[-1])] = new
        self._dropped.update(id(node) for node in old)

    def insert_after(self, value: str) -> str:
        """Renames `value` at its maker, so that new nodes may make it from the returned name."""
        renamed = f"{value}.predicted"
        maker = self.maker[value]
        for index, output in enumerate(maker.output):
            if output == value:
                maker.output[index] = renamed
        return renamed

    def complete(self, value: str, new: list[NodeProto]) -> None:
        """Puts `new`, the last of which makes `value`, behind the value's former maker."""
        self._standing_in[id(self.maker[value])] = new

    def add_input(self, name: str, element: int, shape: list[int | str]) -> None:
        self._graph.input.append(helper.make_tensor_value_info(name, element, shape))

    def finish(self) -> None:
        nodes: list[NodeProto] = []
        for node in self.nodes:
            if id(node) not in self._dropped:
                nodes.append(node)
            nodes += self._standing_in.get(id(node), [])
        needed = {output.name for output in self._graph.output}
        kept = []
        for node in reversed(nodes):
            if needed.intersection(node.output):
                kept.append(node)
                needed.update(node.input)
        tensors = [tensor for name, tensor in self._constants.items() if name in needed]
        del self._graph.node[:]
        self._graph.node.extend(reversed(kept))
        del self._graph.initializer[:]
        self._graph.initializer.extend(tensors)
