"""`collect`: the facts of a run of now, as a bundle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from candidates.commands.session import asking_for_the_remote, git_at, keeping, now, warn
from candidates.contract import encode_bundle
from candidates.run.issue import IssueInput
from candidates.run.run import gather, prepare
from candidates.terminal import print_pieces


def collect(path: Path, flags: Mapping[str, object], given: IssueInput, save_bundle: Path | None) -> None:
    """Print the bundle."""
    run = keeping(prepare(git_at(path), flags, given, now()), save_bundle)
    warn([run])
    with asking_for_the_remote(run, as_json=True):
        print_pieces(encode_bundle(gather(run).facts))
