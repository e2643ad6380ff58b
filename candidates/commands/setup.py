"""`config` and `schema`: what is set, and what is read and printed."""

from __future__ import annotations

import json
from pathlib import Path

from candidates.commands.session import plain_run
from candidates.setup.config_view import config_lines, view_configuration
from candidates.setup.schemas import schema_of
from candidates.terminal import print_bytes, print_record, show


def config(path: Path, *, as_json: bool) -> None:
    """Show the configuration with where each value came from."""
    configuration = plain_run(path, {}).configuration
    if as_json:
        print_record(view_configuration(configuration))
    else:
        show(config_lines(configuration))


def schema(name: str) -> None:
    """Print a JSON Schema."""
    print_bytes(json.dumps(schema_of(name), indent=2).encode() + b"\n")
