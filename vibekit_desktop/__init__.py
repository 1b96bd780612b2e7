"""VibeKit Desktop: see what every turn of an AI coding agent changed, and take back any of it."""

__version__ = "0.1.0"
