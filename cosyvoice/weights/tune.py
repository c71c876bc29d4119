"""Measures the int8 kernels on this machine, for the weights of a prepared folder."""

import torch

from cosyvoice.config import ModelConfig
from cosyvoice.int8 import choose
from cosyvoice.weights import manifest
from cosyvoice.weights.kernel_choice import KernelChoice, machine, shape_key
from cosyvoice.weights.layout import TensorFile, tensor_files

# Rows of a product as it is mostly called: a token at a time; 4 s of new mel after a 3 s prompt.
_ROWS = {manifest.LLM: 1, manifest.FLOW: 350}


def tune(config: ModelConfig, threads: int) -> KernelChoice:
    """Takes some seconds, and the whole machine: whatever else runs meanwhile is measured with it."""
    kernels: dict[str, dict[str, str]] = {}
    for file in tensor_files(config, times=1):
        if file.name in _ROWS:
            shapes = dict.fromkeys(_int8_shapes(file, config), _ROWS[file.name])
            fastest = choose.fastest(choose.measure(shapes, threads))
            kernels[file.network.name] = {shape_key(*shape): kernel for shape, kernel in fastest.items()}
    return KernelChoice(machine=machine(), threads=threads, kernels=kernels)


def _int8_shapes(file: TensorFile, config: ModelConfig) -> list[tuple[int, int]]:
    """(outputs, columns) of the file's int8 weights."""
    stored = file.stored(config).values()
    return [(tensor.shape[0], tensor.shape[1]) for tensor in stored if tensor.dtype == torch.int8]
