"""`-v`: every git command and HTTP request of the collectors, what became of it, and its time, on standard error."""

from __future__ import annotations

import logging
import sys

from collectors.remote_url import redact
from ranking.names import printable


class Plain(logging.Formatter):
    """One line a message: without credentials, and with nothing in it that moves a cursor."""

    def format(self, record: logging.LogRecord) -> str:
        """The message alone."""
        return f"base-branch: {printable(redact(record.getMessage()))}"


def trace() -> None:
    """Print from now on what the collectors ask."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Plain())
    logger = logging.getLogger("collectors")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    # A handler of the root would print the message as it is.
    logger.propagate = False
