"""The ranker asked the user's own history: every release tag, as of the moment before it was made.

Pure over a `History`. What is shown to the ranker never depends on the answer: tags made later, and branches
whose own line began later, are hidden, and so are the dates of branches, which would tell the future.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
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
from ranking.rank import rank, read_view
from ranking.versions import read_tag

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Outcome = Literal["right", "wrong", "held"]


class History(Struct, frozen=True, kw_only=True):
    """One repository as it is now: its name, its default, when each branch's own line began, its tags with dates."""

    repository: str
    default: str
    began: Mapping[str, datetime | None]
    tags: tuple[Tag, ...]


class Question(Struct, frozen=True, kw_only=True):
    """Which branch takes this tag's version? `accepted`: those that it sits on."""

    tag: str
    at: datetime
    accepted: tuple[str, ...]


class Answer(Struct, frozen=True, kw_only=True):
    """What the ranker said to one question."""

    question: Question
    outcome: Outcome
    derived: str | None
    top: str | None
    why: str


def read_questions(history: History) -> list[Question]:
    """A question for every release tag whose date and branches are known, oldest first.

    Left out: pre-releases, and tags that sit on no branch that is left (where they were made cannot be said).
    """
    found = []
    for tag in history.tags:
        reading = read_tag(tag.name)
        if reading is None or reading.version.prerelease or reading.version.wildcard:
            continue
        if tag.created_at is not None and tag.branches:
            found.append(Question(tag=tag.name, at=tag.created_at, accepted=tag.branches))
    return sorted(found, key=lambda q: (q.at, q.tag.encode()))


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


class Report(Struct, frozen=True, kw_only=True):
    """What a backtest found; `unclear`: questions that could not be judged, `left`: those that were not asked."""

    history: History
    answers: tuple[Answer, ...]
    unclear: int
    left: int
    conventions: tuple[Convention, ...]

    def count(self, outcome: Outcome) -> int:
        """How many answers came out so."""
        return sum(1 for answer in self.answers if answer.outcome == outcome)

    def figure(self, at: datetime) -> Backtest:
        """The counts as a bundle keeps them, with the day."""
        right, wrong, held = self.count("right"), self.count("wrong"), self.count("held")
        return Backtest(asked=len(self.answers), right=right, wrong=wrong, held=held, at=at)


def report(history: History, answers: Sequence[Answer | None], asked: int) -> Report:
    """Sum up the answers to the first of `asked` questions."""
    judged = tuple(answer for answer in answers if answer is not None)
    return Report(
        history=history,
        answers=judged,
        unclear=len(answers) - len(judged),
        left=asked - len(answers),
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
    if derived is not None:
        outcome = "right" if derived in question.accepted else "wrong"
    elif (ranking.ambiguous and tied <= set(question.accepted)) or (
        history.default in question.accepted and top is not None and top.branch == history.default
    ):
        outcome = "right"
    why = "; ".join(e.detail for e in top.evidence if e.kind != "ref-provenance") if top else ""
    if ranking.ambiguous:
        why = f"{', '.join(sorted(tied))} tie; {why}"
    return Answer(question=question, outcome=outcome, derived=derived, top=top.branch if top else None, why=why)


def _digits(name: str) -> tuple[int, ...]:
    """All numbers of a name: a pre-release whose numbers are the answer's would give it away."""
    reading = read_tag(name)
    if reading is None:
        return ()
    return (*reading.version.numbers, *reading.version.build)
