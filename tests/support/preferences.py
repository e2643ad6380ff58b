"""What a preferences file holds, whichever shape its list of choices has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def stored_entries(file: Path) -> list[dict[str, Any]]:
    """Every entry with its project key, in the order of the file."""
    listed = json.loads(file.read_text(encoding="utf-8-sig"))["global"]["recentBranches"]
    if isinstance(listed, list):
        return listed
    return [{"projectKey": key} | entry for key, entries in listed.items() for entry in entries]
