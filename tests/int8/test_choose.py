from cosyvoice.int8 import choose
from cosyvoice.int8.kernels import available


def test_every_shape_gets_a_kernel_of_this_machine() -> None:
    times_ms = choose.measure({(64, 128): 1, (128, 64): 32}, threads=1)
    chosen = choose.fastest(times_ms)
    assert set(chosen) == {(64, 128), (128, 64)}
    assert set(chosen.values()) <= set(available())
    assert "float32" not in times_ms[64, 128]  # one row waits for memory
    assert "float32" in times_ms[128, 64]


def test_the_fastest_is_taken() -> None:
    assert choose.fastest({(1, 2): {"by_row": 3.0, "fbgemm": 1.0}}) == {(1, 2): "fbgemm"}
