"""`gate`: a state file let through or refused."""

from __future__ import annotations

from pathlib import Path

from candidates.checks.gate import check_file, rules_named
from candidates.exit_codes import ExitCode
from candidates.terminal import print_record, show


def gate(file: Path, *, autopilot: bool, rules: str, as_json: bool) -> ExitCode:
    """Look at it, and say every reason at once."""
    found = check_file(file, autopilot=autopilot, rules=rules_named(rules))
    if as_json:
        print_record(found)
    else:
        show([[("green", "passed")]] if found.passed else [[("red", "refused: "), ("", r)] for r in found.reasons])
    return found.exit_code
