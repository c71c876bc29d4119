"""A tiny random model, published and prepared: what CosyVoice3's tests speak with."""

from pathlib import Path

from cosyvoice.weights import convert, random_model

SEED = 0


def make(folder: Path, *, enrolment: bool = False) -> None:
    """Makes `published` and `prepared` in the folder."""
    random_model.write(folder / "published", "tiny", SEED)
    convert.prepare(
        folder / "published",
        folder / "prepared",
        enrolment=enrolment,
        version="test",
        progress=lambda step, done, total: None,
    )
