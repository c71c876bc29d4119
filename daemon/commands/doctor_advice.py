"""What to do on this system to have more swap, or a word on the kernel's command line."""

import os
from pathlib import Path

from daemon.watch.memory import Memory

GIB = 2**30
SWAP_MIB = 2048  # for cosyvoice3: making a model or a voice takes so much for a short time, see docs/model.md

_SWAP_BYTES = 2_000_000_000  # "2 GB", whichever way a system rounds it
_MEMORY_WITHOUT_SWAP_BYTES = 12 * GIB  # a board of 8 GB also runs a home's other services, one of 16 has room

# The first whose file exists; each as its system's documentation has it.
_MORE_SWAP = {
    # Raspberry Pi OS since trixie: swap.conf(5) of rpi-swap, which takes a change only at the start.
    "etc/rpi/swap.conf": (
        "sudo mkdir -p /etc/rpi/swap.conf.d && "
        f"printf '[Main]\\nMechanism=swapfile\\n[File]\\nFixedSizeMiB={SWAP_MIB}\\n' | "
        "sudo tee /etc/rpi/swap.conf.d/90-cosyvoiced.conf && sudo reboot"
    ),
    # Raspberry Pi OS until bookworm.
    "etc/dphys-swapfile": (
        "sudo dphys-swapfile swapoff; "
        f"sudo sed -i 's/^#\\?CONF_SWAPSIZE=.*/CONF_SWAPSIZE={SWAP_MIB}/' /etc/dphys-swapfile && "
        "sudo dphys-swapfile setup && sudo dphys-swapfile swapon"
    ),
}


def is_enough_swap(memory: Memory) -> bool:
    """Whether a model or a voice can be made beside everything else."""
    if (memory.total_bytes or 0) >= _MEMORY_WITHOUT_SWAP_BYTES:
        return True
    return (memory.swap_total_bytes or 0) >= _SWAP_BYTES


def swap(root: Path) -> str:
    """Commands that make enough swap, now and after every start."""
    for name, commands in _MORE_SWAP.items():
        if os.path.isfile(root / name):
            return commands
    file = "/swapfile" if not os.path.exists(root / "swapfile") else "/swapfile-cosyvoiced"
    return (
        f"sudo fallocate -l {SWAP_MIB}M {file} && sudo chmod 600 {file} && sudo mkswap {file} && "
        f"sudo swapon {file} && echo '{file} none swap sw 0 0' | sudo tee -a /etc/fstab"
    )


def kernel_words(root: Path, words: str) -> str:
    """How `words` come onto the kernel's command line."""
    for name in ("boot/firmware/cmdline.txt", "boot/cmdline.txt"):  # Raspberry Pi OS: a file of one line
        if os.path.isfile(root / name):
            return f"sudo sed -i '1s/$/ {words}/' /{name} && sudo reboot"
    for name in ("boot/armbianEnv.txt", "boot/orangepiEnv.txt"):
        if os.path.isfile(root / name):
            return f"add {words} to the line extraargs= of /{name}, then: sudo reboot"
    if os.path.isfile(root / "etc/default/grub"):
        return (
            f"add {words} to GRUB_CMDLINE_LINUX in /etc/default/grub, then: sudo update-grub && sudo reboot"
        )
    return f"add {words} to the kernel's command line, and restart the machine"
