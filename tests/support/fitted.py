"""Texts without what the fit of the points decides: how many points, and which further signals have any."""

from __future__ import annotations

import re


def unfitted(text: str) -> str:
    r"""A text with its decisive points and scores masked, and without the signals behind the first reason.

    >>> unfitted("  161 points\n  +93  issue-version  fixVersions 8.4: x\n  +40  issue-version  of 2 branches")
    '  S points\n +P  issue-version  fixVersions 8.4: x'
    """
    kept = [line for line in text.splitlines() if "issue-version" not in line or "fixVersions" in line]
    points = re.sub(r" *\+\d+(?=:? +(?:issue-version|fixVersions))", " +P", "\n".join(kept))
    return re.sub(r"\b\d+(?= (?:more|fewer)\b)|\b[12]\d\d\b", "S", points)
