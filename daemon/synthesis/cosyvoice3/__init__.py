"""CosyVoice3 as the daemon's heavy engine."""

from daemon.synthesis.cosyvoice3.facts import NAME, find, missing

__all__ = ["NAME", "find", "missing"]
