"""`probe` and `recheck`: the remote asked about one branch, before the work and before its push."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from candidates.checks.probe import probe as probe_branch
from candidates.checks.probe import sentence as probe_sentence
from candidates.checks.recheck import recheck_all, recheck_changes
from candidates.checks.recheck import sentence as recheck_sentence
from candidates.commands.session import asking_for_the_remote, plain_run
from candidates.state_file import read_state, write_state
from candidates.terminal import print_record, show
from collectors.process import Deadline
from ranking.names import printable


def probe(path: Path, flags: Mapping[str, object], name: str, *, as_json: bool) -> int:
    """Say whether the branch exists, here and on the remote."""
    run = plain_run(path, flags)
    with asking_for_the_remote(run, as_json=as_json):
        found = probe_branch(run.git, name, run.configuration.remote, Deadline(run.configuration.timeout))
    if as_json:
        print_record(found)
    else:
        show([[("", probe_sentence(found))]])
    return found.exit_code


def recheck(path: Path, flags: Mapping[str, object], state: Path, *, as_json: bool) -> int:
    """Ask again about the recorded base; where it is fresh, the state says so from now on."""
    run = plain_run(path, flags)
    deadline, moment = Deadline(run.configuration.timeout), run.request.now
    with asking_for_the_remote(run, as_json=as_json):
        found = recheck_all(run.git, read_state(state), deadline, moment, remote=run.configuration.remote)
    if "fresh" in {one.status for one in (found, *found.projects)}:
        write_state(state, lambda document: recheck_changes(document, found), now=moment, create=False)
    if as_json:
        print_record(found)
    else:
        several = [[("", f"{printable(one.root or '')}: {recheck_sentence(one)}")] for one in found.projects]
        show([[("", recheck_sentence(found))], *several])
    return found.exit_code
