"""`runs`: the kept runs listed, one of them explained again, or all removed."""

from __future__ import annotations

import os
from pathlib import Path

from candidates.commands.explain_command import View
from candidates.commands.runs_command import RunsRequest, list_or_explain
from candidates.terminal import put


def runs(run_id: str | None, view: View, save_bundle: Path | None, *, clear: bool) -> None:
    """Show what is asked of the ring."""
    put(list_or_explain(RunsRequest(run_id=run_id, view=view, save_bundle=save_bundle, clear=clear), os.environ))
