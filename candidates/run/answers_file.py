"""`--answers FILE`: what a person answered for each of several repositories, in one round trip."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import BinaryIO, Literal

from msgspec import Struct
from msgspec.structs import replace

from candidates.run.answers import answered_with
from candidates.run.run import Run
from collectors.errors import InvalidInput
from collectors.input_file import read_input
from collectors.strict_json import decode_strict
from ranking.names import printable


class Answered(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """What a person answered for one repository; a question without an answer stands."""

    remote: str | None = None
    fetch_failed: Literal["retry", "cached", "local", "abort"] | None = None
    base_branch: str | None = None


def read_answers(source: str, stdin: BinaryIO) -> Mapping[str, Answered]:
    """The answers by the repository's root, or the name of its folder. Raises InvalidInput with the dotted path."""
    data, what = read_input(source, stdin, "the answers")
    return decode_strict(data, dict[str, Answered], what)


def with_answers(runs: Sequence[Run], answers: Mapping[str, Answered]) -> list[Run]:
    """The runs with their answers. Raises InvalidInput for an answer to a repository that is not in this run."""
    told, used = [], set()
    for run in runs:
        key = next((key for key in answers if os.path.realpath(key) == os.path.realpath(run.root)), run.root.name)
        if key in answers:
            used.add(key)
            run = _with_answer(run, answers[key])  # noqa: PLW2901 - the same run, told more
        told.append(run)
    if left := [key for key in answers if key not in used]:
        roots = ", ".join(str(run.root) for run in runs)
        message = f"no repository of this run is {', '.join(map(printable, left))}; there are: {printable(roots)}"
        raise InvalidInput(message, where="--answers")
    return told


def _with_answer(run: Run, answer: Answered) -> Run:
    if answer.remote is not None:
        run = replace(run, request=replace(run.request, remote=answer.remote, remote_reason="a person chose it"))
    if answer.fetch_failed is not None:
        run = replace(run, policy=replace(run.policy, on_fetch_failure=answer.fetch_failed))
    return run if answer.base_branch is None else answered_with(run, answer.base_branch)
