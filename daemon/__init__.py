"""cosyvoiced: an offline voice-announcement daemon. Start reading at `daemon/app.py`."""

__version__ = "0.1.0"
