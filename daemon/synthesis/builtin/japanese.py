"""Japanese text to Kokoro's phonemes, where the optional pyopenjtalk is installed."""

from daemon.synthesis.engine import EngineError


class Japanese:
    def load(self) -> None:
        raise EngineError("Japanese needs an extra: pip install 'cosyvoiced[ja]'")

    def phonemes(self, text: str) -> str:
        self.load()
        return ""
