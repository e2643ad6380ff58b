"""The application: thin commands over collect, rank, resolve and render."""

__version__ = "0.1.0"
