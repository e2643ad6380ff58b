"""The kept figures of backtests, one small file a repository, beside the memory; replaced whole, never edited."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Annotated

import msgspec

from collectors.input_file import read_whole
from collectors.stores.store_file import replace_bytes
from ranking.facts import Backtest, Record


class KeptBacktest(Record, frozen=True, kw_only=True):
    """One kept figure: of which project, over how many tags."""

    project_key: str
    tags: Annotated[int, msgspec.Meta(ge=0)]
    figure: Backtest


def keep_backtest(preferences: Path, kept: KeptBacktest) -> Path:
    """Write the figure beside the preferences file; OSError where that cannot be. The file that holds it."""
    target = _place(preferences, kept.project_key)
    replace_bytes(target, msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n")
    return target


def read_backtest(preferences: Path, project_key: str) -> KeptBacktest | None:
    """Read the kept figure of one project; None where none is kept or what is there is not one.

    A figure that cannot be read is as good as none: it is a measure, and running the backtest again replaces it.
    """
    if not _folder(preferences).is_dir():
        return None
    try:
        kept = msgspec.json.decode(read_whole(_place(preferences, project_key)), type=KeptBacktest)
    except (OSError, msgspec.DecodeError):
        return None
    return kept if kept.project_key == project_key else None


def _place(preferences: Path, project_key: str) -> Path:
    digest = sha256(project_key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return _folder(preferences) / f"{digest}.json"


def _folder(preferences: Path) -> Path:
    return preferences.with_name("backtests")
