"""All that is measured, as ratios within one run: `python -m bench [REPEATS]`, with the project's Python.

Medians of at least ten runs unless told otherwise; the seconds are this machine's, the ratios are what counts.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench.lineage import merged_in
from bench.racing import settle_in
from bench.rank_scale import rank_scale
from bench.refresh import behind, many, many_with_tags, side_by_side
from bench.start import start


def main() -> None:
    """Build, measure, print."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settle_in(folder)
        for measure in (start, rank_scale, merged_in, behind, many, many_with_tags, side_by_side):
            print(f"\n{measure.__name__}")
            measure(folder / measure.__name__, repeats)


if __name__ == "__main__":
    main()
