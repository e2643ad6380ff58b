"""`demo`: three decisions about a repository that is built for them."""

from __future__ import annotations

import os

from candidates.setup.demo import run_demo
from candidates.terminal import show


def demo() -> None:
    """Show each step when it is done."""
    for lines in run_demo(os.environ):
        show(lines)
