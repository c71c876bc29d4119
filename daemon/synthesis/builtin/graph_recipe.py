"""Which form of Kokoro's graph this processor gets; kept apart from the rewriting, which imports onnx."""

import platform
from pathlib import Path

RECIPE = 3  # raise it whenever the rewritten graph changes: older files are then made again


def signed_weights_pay() -> bool:
    """Whether this processor multiplies unsigned by signed bytes exactly.

    x86 without VNNI does so with a saturating instruction, which is heard; unsigned weights are exact
    everywhere, and slower.
    """
    if platform.machine() in ("aarch64", "arm64"):
        return True
    try:
        cpu = Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    return "avx512_vnni" in cpu or "avx_vnni" in cpu
