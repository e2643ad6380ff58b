"""The ranker asked the user's own history: every release tag, as of the moment before it was made.

Pure over a `History`. What is shown to the ranker never depends on the answer: tags made later, and branches
whose own line began later, are hidden, and so are the dates of branches, which would tell the future.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from operator import attrgetter
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from ranking.claims import DECISIVE
from ranking.facts import (
    Backtest,
    Branch,
    Convention,
    Facts,
    Issue,
    IssueVersion,
    Ranking,
    RefListing,
    Repository,
    Tag,
)
from ranking.ranker import rank, read_view
from ranking.versions import Version, read_branch, read_tag

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Outcome = Literal["right", "wrong", "held"]
By = Literal["derived", "default", "tie"]
Reason = Literal["prerelease", "undated", "unread", "gone", "newer-line", "on-default"]
"""Why a release tag cannot be judged; `REASONS` says each in words."""

REASONS: Mapping[Reason, str] = MappingProxyType(
    {
        "prerelease": "are pre-releases",
        "undated": "have no date that can be read",
        "unread": "have no objects here to look at",
        "gone": "were made on a branch that is gone, and no branch took them in",
        "newer-line": "were made on a branch that is gone, and only a branch of newer releases took them in",
        "on-default": "were made on the default branch beside a branch of their version",
    }
)


class History(Struct, frozen=True, kw_only=True):
    """One repository as it is now: its name, its default, when each branch's own line began, its tags with dates.

    `merged_at`: when the branches of a tag's `merged_into` took it in.
    """

    repository: str
    default: str
    began: Mapping[str, datetime | None]
    tags: tuple[Tag, ...]
    merged_at: Mapping[str, datetime] = MappingProxyType({})


class Question(Struct, frozen=True, kw_only=True):
    """Which branch takes this tag's version? `accepted`: those that it sits on, or that took it in first."""

    tag: str
    at: datetime
    accepted: tuple[str, ...]


class Questions(Struct, frozen=True, kw_only=True):
    """What can be asked, the oldest first, and how many release tags cannot be judged, by the reason."""

    asked: tuple[Question, ...]
    unjudged: Mapping[Reason, int]


class Answer(Struct, frozen=True, kw_only=True):
    """What the ranker said to one question; `by`: what gave the answer, None if there was none."""

    question: Question
    outcome: Outcome
    by: By | None
    derived: str | None
    top: str | None
    why: str


def read_questions(history: History) -> Questions:
    """Make a question of every release tag whose branch is known, the oldest first."""
    found: list[Question] = []
    unjudged: Counter[Reason] = Counter()
    newest: dict[str, Version] = {}
    for tag in sorted(history.tags, key=lambda t: (t.created_at or EPOCH, t.name.encode())):
        reading = read_tag(tag.name)
        if reading is None or reading.version.wildcard:
            continue
        accepted = _accepted(tag, reading.version, newest)
        if reading.version.prerelease:
            unjudged["prerelease"] += 1
            continue
        if tag.created_at is None:
            unjudged["undated"] += 1
            continue
        for branch in tag.branches or tag.merged_into or ():
            newest[branch] = max(newest.get(branch, reading.version), reading.version, key=attrgetter("key"))
        if isinstance(accepted, str):
            unjudged[accepted] += 1
        else:
            found.append(Question(tag=tag.name, at=tag.created_at, accepted=accepted))
    return Questions(asked=tuple(found), unjudged=unjudged)


def _accepted(tag: Tag, version: Version, newest: Mapping[str, Version]) -> tuple[str, ...] | Reason:
    """Name the branches that a release was made on or for, or the reason why that is not known.

    `newest`: the newest version that each branch had before. A release that a branch took in was made for that branch
    if its name covers the version or, without a version in the name, if the branch had no newer release before.
    Otherwise an old line was merged up, and its own branch is gone.
    """
    if tag.branches is None:
        return "unread"
    if tag.branches:
        return tag.branches
    if not tag.merged_into:
        return "gone"
    return tuple(b for b in tag.merged_into if _is_line_of(b, version, newest.get(b))) or "newer-line"


def _is_line_of(branch: str, version: Version, newest: Version | None) -> bool:
    reading = read_branch(branch)
    if reading is not None:
        return reading.version.covers(version)
    return newest is None or version.key >= newest.key


def ask(history: History, questions: Iterable[Question]) -> Iterator[Answer | None]:
    """Ask each question as of its day; the answers come one by one.

    None: cannot be judged. The tag was made on the default branch while a branch of its version was listed; a
    release branch that is merged before it is tagged looks like that, and so does work on the wrong branch.
    """
    for question in questions:
        answer = _judge(history, question, rank(as_of(history, question)))
        unclear = answer.outcome == "wrong" and question.accepted == (history.default,)
        yield None if unclear else answer


def as_of(history: History, question: Question) -> Facts:
    """The facts of the repository the moment before a tag was made."""
    listed = {
        name
        for name, began in history.began.items()
        if name == history.default or began is None or began <= question.at
    }
    digits = _digits(question.tag)
    tags = tuple(
        Tag(
            name=tag.name,
            created_at=tag.created_at,
            branches=None if tag.branches is None else tuple(b for b in tag.branches if b in listed),
            merged_into=_merged_into(history, tag, question.at, listed),
        )
        for tag in history.tags
        if tag.created_at is not None and tag.created_at < question.at and _digits(tag.name) != digits
    )
    version = IssueVersion(name=question.tag, field="fixVersions", role="fix")
    return Facts(
        schema="base-branch/bundle@1",
        now=question.at,
        repository=Repository(
            name=history.repository,
            remote="origin",
            default_branch=history.default,
            default_branch_state="remote",
        ),
        refs=RefListing(
            provenance="remote",
            complete=True,
            tags_complete=True,
            branches=tuple(Branch(name=name) for name in sorted(listed)),
            tags=tags,
        ),
        issue=Issue(key="BACKTEST", read="answered", versions=(version,)),
    )


def _merged_into(history: History, tag: Tag, at: datetime, listed: AbstractSet[str]) -> tuple[str, ...] | None:
    """The branches that had taken a tag in by then."""
    merged = history.merged_at.get(tag.name)
    if merged is None or merged >= at:
        return None
    return tuple(b for b in tag.merged_into or () if b in listed) or None


class Report(Struct, frozen=True, kw_only=True):
    """What a backtest found; `unjudged`: the releases that cannot be judged, `left`: questions that were not asked."""

    history: History
    answers: tuple[Answer, ...]
    unjudged: Mapping[Reason, int]
    left: int
    conventions: tuple[Convention, ...]

    def count(self, outcome: Outcome, by: By | None = None) -> int:
        """How many answers came out so; `by`: only those that this gave."""
        return sum(1 for answer in self.answers if answer.outcome == outcome and by in {None, answer.by})

    def figure(self, at: datetime) -> Backtest:
        """The counts as a bundle keeps them, with the day."""
        return Backtest(
            asked=len(self.answers),
            right=self.count("right"),
            wrong=self.count("wrong"),
            held=self.count("held"),
            at=at,
            derived_right=self.count("right", "derived"),
            derived_wrong=self.count("wrong", "derived"),
        )


def report(history: History, answers: Sequence[Answer | None], questions: Questions) -> Report:
    """Sum up the answers to the first of the questions."""
    judged = tuple(answer for answer in answers if answer is not None)
    unjudged = Counter(questions.unjudged)
    unjudged["on-default"] += len(answers) - len(judged)
    return Report(
        history=history,
        answers=judged,
        unjudged={reason: unjudged[reason] for reason in REASONS if unjudged[reason]},
        left=len(questions.asked) - len(answers),
        conventions=_conventions(history),
    )


def _conventions(history: History) -> tuple[Convention, ...]:
    """The templates under which several versions stand today, the commonest first."""
    branches = tuple(Branch(name=name) for name in history.began)
    facts = Facts(
        schema="base-branch/bundle@1",
        now=max((t.created_at for t in history.tags if t.created_at), default=EPOCH),
        repository=Repository(name=history.repository, remote="origin", default_branch=history.default),
        refs=RefListing(provenance="local", complete=False, branches=branches, tags=history.tags),
    )
    members = read_view(facts).repo.conventions.members
    several = [Convention(template=t, members=n) for t, n in members.items() if n > 1]
    return tuple(sorted(several, key=lambda c: (-c.members, c.template)))


def _judge(history: History, question: Question, ranking: Ranking) -> Answer:
    top = ranking.candidates[0] if ranking.candidates else None
    decisive = top is not None and not DECISIVE.isdisjoint(e.kind for e in top.evidence)
    derived = top.branch if top is not None and decisive and not ranking.ambiguous else None
    tied = {c.branch for c in ranking.candidates if top is not None and c.score == top.score}
    outcome: Outcome = "held"
    by: By | None = None
    if derived is not None:
        outcome, by = "right" if derived in question.accepted else "wrong", "derived"
    elif ranking.ambiguous and tied <= set(question.accepted):
        outcome, by = "right", "tie"
    elif history.default in question.accepted and top is not None and top.branch == history.default:
        outcome, by = "right", "default"
    why = "; ".join(e.detail for e in top.evidence if e.kind != "ref-provenance") if top else ""
    if ranking.ambiguous:
        why = f"{', '.join(sorted(tied))} tie; {why}"
    return Answer(question=question, outcome=outcome, by=by, derived=derived, top=top.branch if top else None, why=why)


def _digits(name: str) -> tuple[int, ...]:
    """All numbers of a name: a pre-release whose numbers are the answer's would give it away."""
    reading = read_tag(name)
    if reading is None:
        return ()
    return (*reading.version.numbers, *reading.version.build)
