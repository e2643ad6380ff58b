"""Deciding again from a saved bundle: nothing is asked, looked at or fetched, nothing is fresh, no state is written.

The bundle's own settings count; a flag of this run goes before them. Configuration files are not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO, cast, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from candidates.contract import Decision, Source, SourceName, decode_bundle, moment
from candidates.exit_codes import ExitCode
from candidates.resolver import resolve
from candidates.run.collect import Collected
from candidates.run.decide import Policy, decide
from collectors.config.configuration import merge, read_environment, read_flags
from collectors.config.keys import Autonomy, OnFetchFailure
from collectors.errors import InvalidInput
from collectors.git.refs import RemoteChoice
from collectors.input_file import read_input
from ranking.facts import Facts, Settings
from ranking.ranker import rank_surely, read_asked

MAY_FOLLOW = frozenset(
    """
    --autonomy --autopilot --issue-optional --on-fetch-failure --derive-floor --derive-at --default-order
    --multiple-versions --on-conflict --resolve-order --branch-ttl-days --max-candidates --work-prefixes
    """.split()
)
"""The flags that have a say in a replay: how it decides. What is known stands in the bundle."""


class Replay(Struct, frozen=True, kw_only=True):
    """What a replay is made of: where the bundle is, and what this run was given."""

    source: str
    stdin: BinaryIO
    flags: Mapping[str, object]
    environ: Mapping[str, str]
    base: str | None = None


def replay(asked: Replay) -> tuple[Decision, ExitCode]:
    """The decision that a bundle's facts give. InvalidInput for what is no bundle, and for a flag without a say."""
    given = {flag: value for flag, value in asked.flags.items() if value not in (None, False, [], ())}
    strange = sorted(given.keys() - MAY_FOLLOW)
    if strange:
        message = f"{', '.join(strange)} cannot go with --bundle: its facts are given, and nothing is written"
        raise InvalidInput(message, hint="base-branch resolve, without --bundle")
    data, what = read_input(asked.source, asked.stdin, "the bundle")
    facts = decode_bundle(data, what)
    held = merge((read_flags(given), read_environment(asked.environ)))
    policy = Policy(
        autonomy=cast("Autonomy", held["autonomy"].value),
        on_fetch_failure=cast("OnFetchFailure | None", held["onFetchFailure"].value),
        issue_optional=held["issueOptional"].value is True,
        base=asked.base,
        replay=True,
    )
    return decide(recollected(overlaid(facts, given)), policy)


def overlaid(facts: Facts, flags: Mapping[str, object]) -> Facts:
    """The facts with the settings that this run's flags give."""
    layer = read_flags(flags)
    fields = msgspec.structs.fields(Settings)
    settings = {f.name: layer[f.encode_name].value for f in fields if f.encode_name in layer}
    return replace(facts, settings=replace(facts.settings, **settings))


def recollected(facts: Facts) -> Collected:
    """The facts as if they had just been collected; no source was asked in this run."""
    view, repository = read_asked(facts), facts.repository
    ranked = rank_surely(facts, view)
    ranking = ranked.ranking
    reason = repository.remote_reason or "as the bundle says"
    remote = repository.remote
    return Collected(
        facts=facts,
        view=view,
        ranking=ranking,
        resolution=resolve(facts, ranking),
        confidence=ranked.confidence,
        choice=RemoteChoice(name=remote, url=repository.url, reason=reason) if remote is not None else None,
        sources=tuple(Source(name=name, state="not-asked", detail="a replay") for name in get_args(SourceName)),
        log=(f"replayed: these are the facts of {moment(facts.now)}",),
    )
