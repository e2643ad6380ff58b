"""How `base-branch rank` grows: one version against 1,000, 10,000 and 100,000 branches, time and peak memory."""

from __future__ import annotations

import json
import math
from pathlib import Path

from bench.racing import PROGRAM, Case, apart, race, ratio

SIZES = (1_000, 10_000, 100_000)


def bundle(size: int) -> bytes:
    """`size` branches, a third of them release lines, the rest work; a tag for every tenth."""
    lines = [f"release/{i // 40}.{i % 40}.x" for i in range(size // 3)]
    work = [f"feature/APP-{i}-some-change-{i % 7}.{i % 11}" for i in range(size - len(lines) - 1)]
    oid = "0123456789abcdef" * 2 + "01234567"
    return json.dumps(
        {
            "schema": "base-branch/bundle@1",
            "now": "2026-11-30T09:00:00Z",
            "repository": {
                "name": "acme/app",
                "remote": "origin",
                "defaultBranch": "main",
                "defaultBranchState": "remote",
            },
            "refs": {
                "provenance": "remote",
                "complete": True,
                "branches": [{"name": name, "tip": oid} for name in ("main", *lines, *work)],
                "tags": [
                    {"name": f"v{i // 40}.{i % 40}.1", "branches": [f"release/{i // 40}.{i % 40}.x"]}
                    for i in range(0, size // 3, 10)
                ],
            },
            "issue": {"key": "APP-1", "read": "answered", "versions": [{"name": "7.20.2", "field": "fixVersions"}]},
        }
    ).encode()


def _write(file: Path, size: int) -> None:
    file.write_bytes(bundle(size))


def rank_scale(folder: Path, repeats: int) -> None:
    """Measure and print: ordinary names in growing numbers."""
    folder.mkdir()
    cases = {}
    for size in SIZES:
        file = folder / f"{size}.json"
        apart(_write, file, size)
        cases[f"rank, {size:,} branches"] = Case(argv=[*PROGRAM, "rank"], stdin=file)
    small, middle, large = race(cases, repeats).values()
    step = SIZES[-1] / SIZES[-2]
    ratio("time exponent, 10,000 to 100,000", math.log(large.seconds / middle.seconds, step), "at most 1.1")
    # From where memory begins to grow; the interpreter and the modules are there before.
    grown = (large.mebibytes - small.mebibytes) / max(middle.mebibytes - small.mebibytes, 0.1)
    ratio("memory exponent, 10,000 to 100,000", math.log(grown, step), "at most 1.1")
