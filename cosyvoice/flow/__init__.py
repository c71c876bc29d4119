"""The flow-matching model: speech tokens and a voice in, log-mel frames out."""
