"""The daemon as a systemd service: its unit files, and where they go."""
