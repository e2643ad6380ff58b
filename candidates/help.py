"""What stands at the end of each command's `--help`: one to three lines as they are typed; and the commands' order.

The lines are true: a test runs those that need neither a tracker nor an earlier run, and parses the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from typer.core import TyperGroup

GROUPS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("Which branch", ("resolve", "choose", "ask")),
    ("Why", ("explain", "runs", "diff", "backtest")),
    ("The halves, for replay and for tests", ("collect", "rank", "schema")),
    ("A pipeline's checks", ("gate", "recheck", "probe")),
    ("What it remembers", ("remember", "forget", "recent")),
    ("Set-up", ("doctor", "config", "demo")),
)

EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "resolve": (
        "base-branch resolve --issue APP-12 --autopilot",
        "base-branch resolve --issue-version 8.4.0 --autopilot --state state.json",
        "base-branch resolve --issue-version 8.4.0 --base release/8.4.0 --save-bundle monday.json",
    ),
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

_WHOLE_SENTENCE: Final = 300

EXIT_CODES: Final = """\
\b
Exit codes:
  0    answered
  1    unforeseen
  2    usage, or wrong input
  3    a person must choose
  4    the remote did not answer, or no ref of this clone holds the branch
  5    set-up: standard error has the next command
  6    the issue could not be read, or not be asked on
  7    the gate refused, or the state would contradict itself
  130  interrupted
probe and recheck have 10 to 13 beside these: see their --help. The README says more."""


class GroupedCommands(TyperGroup):
    """The commands under the headings of GROUPS, each with the whole of its first sentence."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer has its own click inside
        """Write the headings and rows."""
        del ctx
        width = max(map(len, self.commands))
        for title, names in GROUPS:
            rows = [(f"{name:<{width}}", self.commands[name].get_short_help_str(_WHOLE_SENTENCE)) for name in names]
            with formatter.section(title):
                formatter.write_dl(rows)


def epilog_of(command: str) -> str:
    """The examples of a command, as they stand below its options."""
    lines = EXAMPLES[command]
    return "\n".join(("\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)))
