"""What stands at the end of each command's `--help`: one to three lines as they are typed; and the commands' order.

The lines are true: a test runs those that need neither a tracker nor an earlier run, and parses the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

GROUPS: Final[Mapping[str, Mapping[str, str]]] = {
    "Which branch": {
        "resolve": "Print the decision: the branch, where it stands, every reason.",
        "resume": "Go on with a run that asked on its issue.",
        "choose": "Record what a person answered to a host's picker.",
        "ask": "Ask a person on the terminal; for scripts.",
    },
    "Why": {
        "explain": "Show a person the candidates, and why.",
        "runs": "List the last runs, or explain one of them again.",
        "diff": "Say what changed between two runs, and why the answer did.",
        "backtest": "Ask this repository's history how often it would be right.",
    },
    "The halves, for replay and for tests": {
        "collect": "Print the bundle: every fact that the ranking looks at.",
        "rank": "Rank the bundle on standard input.",
        "candidates": "Rank a list of branches on standard input.",
        "schema": "Print the JSON Schema of what the commands read and print.",
    },
    "A pipeline's checks": {
        "gate": "Refuse a state file that is not ready, with every reason.",
        "recheck": "Before a push: ask the remote again about the base.",
        "probe": "Say whether a branch exists, here and on the remote.",
    },
    "What it remembers": {
        "remember": "Remember a choice for this project.",
        "forget": "Forget a remembered choice of this project, or all of them.",
        "recent": "Show the remembered choices of this project.",
    },
    "Set-up": {
        "doctor": "Say what works, and what to run where something does not.",
        "config": "Show each value of the configuration with its source.",
        "demo": "Walk through three decisions on a small repository.",
    },
}
"""Every command under its heading, with its line."""

EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "resolve": (
        "base-branch resolve --issue APP-12 --autopilot",
        "base-branch resolve --issue-version 8.4.0 --autopilot --state state.json",
        "base-branch resolve --issue-version 8.4.0 --base release/8.4.0 --save-bundle monday.json",
    ),
    "resume": ("base-branch resume --issue APP-12 --state state.json",),
    "choose": (
        "base-branch choose release/8.4.0 --issue APP-12 --state state.json",
        "base-branch choose release/8.4.0 --state state.json",
        "base-branch choose --cancelled --state state.json",
    ),
    "ask": ("base-branch ask 'Which branch?' release/8.4.0 develop",),
    "explain": (
        "base-branch explain --issue APP-12",
        "base-branch explain --issue-version 8.4.0 --why-not develop",
        "base-branch explain --bundle monday.json --markdown",
    ),
    "runs": (
        "base-branch runs",
        "base-branch runs 3fa9c1 --why-not develop",
        "base-branch runs 3fa9c1 --save-bundle tuesday.json",
    ),
    "diff": ("base-branch diff monday.json tuesday.json",),
    "backtest": ("base-branch backtest",),
    "collect": ("base-branch collect --issue-version 8.4.0 > tuesday.json",),
    "rank": ("base-branch rank < monday.json",),
    "candidates": ("base-branch candidates --issue-version 8.4.0 < branches.txt",),
    "schema": ("base-branch schema decision",),
    "gate": ("base-branch gate state.json --autopilot",),
    "recheck": ("base-branch recheck --state state.json",),
    "probe": ("base-branch probe release/8.4.0",),
    "remember": ("base-branch remember release/8.4.0",),
    "forget": ("base-branch forget release/8.4.0", "base-branch forget"),
    "recent": ("base-branch recent",),
    "doctor": ("base-branch doctor",),
    "config": ("base-branch config", "base-branch config --json"),
    "demo": ("base-branch demo",),
}

EXIT_CODES: Final = """\
\b
Exit codes:
  0    answered
  1    unforeseen, or standard output cannot be written
  2    usage, or wrong input
  3    a person must choose
  4    the remote did not answer, or no ref of this clone holds the branch
  5    set-up: standard error has the next command
  6    the issue could not be read, or not be asked on
  7    the gate refused, or the state would contradict itself
  130  interrupted
probe and recheck have 10 to 13 beside these: see their --help. The README says more."""


def epilog_of(command: str) -> str:
    """The examples of a command, as they stand below its options."""
    lines = EXAMPLES[command]
    return "\n".join(("\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)))
