"""How `base-branch rank` grows: one version against 1,000, 10,000 and 100,000 branches, time and peak memory.

Run with the project's Python: `python bench/rank_scale.py [REPEATS]`. Every row is a child process of its own; the
ratios within one run are what counts, not the seconds.
"""

from __future__ import annotations

import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = (1_000, 10_000, 100_000)
RANK = [sys.executable, "-c", "from candidates.front import main; main()", "rank"]


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


def measure(data: bytes, repeats: int) -> tuple[float, float]:
    """Median seconds of the whole process, and its peak memory in MiB."""
    seconds, peak = [], 0.0
    with tempfile.TemporaryFile() as file:
        for _ in range(repeats):
            file.seek(0)
            file.truncate()
            file.write(data)
            file.seek(0)
            began = time.perf_counter()
            child = subprocess.Popen(RANK, stdin=file, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            seconds.append(time.perf_counter() - began)
            if status:
                raise SystemExit(f"rank ended with {status}")
            peak = max(peak, _mebibytes(usage))
    return statistics.median(seconds), peak


def _mebibytes(usage: resource.struct_rusage) -> float:
    return usage.ru_maxrss / 1024


def main() -> None:
    """Print the table."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    os.chdir(Path(__file__).resolve().parent.parent)
    rows = [(size, *measure(bundle(size), repeats)) for size in SIZES]
    base = rows[0]
    print(f"{'branches':>9} {'ms':>8} {'MiB':>6} {'time ratio':>11} {'memory ratio':>13}")
    for size, took, peak in rows:
        print(f"{size:>9,} {took * 1000:>8.0f} {peak:>6.0f} {took / base[1]:>11.1f} {peak / base[2]:>13.1f}")
    (_, small, _), (_, large, _) = rows[-2:]
    print(f"time exponent from {SIZES[-2]:,} to {SIZES[-1]:,}: {math.log10(large / small):.2f} (1 is linear)")


if __name__ == "__main__":
    main()
