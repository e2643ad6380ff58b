"""Questions as data: what is asked, the options with their evidence, and which one is recommended.

Pure. What an option stands for is told by its place and by whether it has a preview, never by its label, which may
stand in any language: see `answers_of`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from candidates.contract import UNNAMED, Decision, Option, Question
from candidates.evidence import split_detail
from candidates.memory import to_show
from candidates.questions.languages import ENGLISH, Language
from candidates.resolver import Resolution, decisive_reason
from collectors.errors import InvalidInput
from ranking.facts import Candidate, Facts, Ranking, RecentChoice, Record
from ranking.listing import list_branches
from ranking.names import printable
from ranking.recent import is_expired

# What every host that asks can show: two to four options.
FEWEST_OPTIONS: Final = 2
MOST_OPTIONS: Final = 4

_FETCH_FAILED: Final = ("retry", "cached", "local", "abort")
_LONGEST_REASON: Final = 200
_LONGEST_TEXT: Final = 300
_STEP: Final = re.compile(r"([1-9][0-9]{0,3})(?:/([1-9][0-9]{0,3}))?")


class Asking(Struct, frozen=True, kw_only=True):
    """How a question is put: in which language, and which page of its options."""

    language: Language = ENGLISH
    page: int = 1


class Answer(Record, frozen=True, kw_only=True):
    """What one option of a question stands for, by its place.

    `name`: the branch or the remote, or how to go on; `page`: the page of options that is asked next.
    """

    kind: Literal["branch", "remote", "fetch-failed", "page", "stop"]
    name: str | None = None
    page: int | None = None


def base_branch_question(
    facts: Facts, ranking: Ranking, resolution: Resolution, asking: Asking | None = None
) -> Question:
    """Ask which branch the work belongs on; the first is marked: what an unattended run would take, unless others tie.

    The order: branches at the top with decisive evidence, stored choices, other candidates, what the ranking left out.
    """
    asking = asking or Asking()
    say = asking.language.say
    listed = list_branches(facts).branches
    recommended = None if ranking.ambiguous or resolution.branch not in listed else resolution.branch
    remembered = _remembered(facts, listed)
    candidates = {c.branch: c for c in ranking.candidates}
    first = [recommended] if recommended is not None else []
    decisive = _decisive(ranking)
    agreed = [name for name in remembered if name in decisive]
    likely = list(dict.fromkeys([*first, *agreed, *decisive, *remembered, *candidates]))
    others = sorted(listed.keys() - set(likely), key=_bytes)
    names, following = _page(likely, others, asking.page)
    options = [
        _option(name, candidates.get(name), remembered.get(name), asking.language, recommended=name == recommended)
        for name in names
    ]
    if following is not None:
        more = say("another_more", count=len(likely) + len(others), page=following)
        options.append(Option(label=say("another"), description=more))
    # A question has two answers at least.
    if len(options) < FEWEST_OPTIONS:
        options.append(Option(label=say("another"), description=say("another_typed")))
    if len(options) < FEWEST_OPTIONS:
        options.append(Option(label=say("stop"), description=say("stop_does")))
    repository = _text(facts.repository.name)
    if facts.issue is not None and facts.issue.key != UNNAMED:
        question = say("question_branch_issue", issue=_text(facts.issue.key), repository=repository)
    else:
        question = say("question_branch", repository=repository)
    return Question(
        id=_id("base-branch", asking.page),
        repository=facts.repository.name,
        kind="base-branch",
        question=question,
        header="Base branch",
        options=tuple(options),
        default=1 if recommended is not None and names[:1] == [recommended] else None,
        allow_free_text=True,
    )


def remote_question(repository: str, names: Sequence[str], asking: Asking | None = None) -> Question:
    """Ask which of several remotes holds the lines."""
    asking = asking or Asking()
    say = asking.language.say
    listed, following = _page(names, (), asking.page)
    options = [
        Option(label=name, description=say("remote", remote=name), preview=say("preview_remote", remote=name))
        for name in listed
    ]
    if following is not None:
        more = say("another_remote_more", count=len(names), page=following)
        options.append(Option(label=say("another_remote"), description=more))
    return Question(
        id=_id("remote", asking.page),
        repository=repository,
        kind="remote",
        question=say("question_remote", repository=_text(repository)),
        header="Remote",
        options=tuple(options),
        default=None,
        allow_free_text=True,
    )


def fetch_failed_question(facts: Facts, asking: Asking | None = None) -> Question:
    """Ask what to do where the remote did not answer: again, what is here of it, what is only here, or stop."""
    asking = asking or Asking()
    say = asking.language.say
    failure, remote = facts.refs.failure, facts.repository.remote or say("the_remote")
    where = f" ({failure.host})" if failure and failure.host else ""
    why = _text(f"{failure.kind}: {failure.detail}") if failure else say("no_answer")
    vpn = failure is not None and failure.kind == "host-not-found"
    return Question(
        id="fetch-failed",
        repository=facts.repository.name,
        kind="fetch-failed",
        question=say(
            "question_fetch_vpn" if vpn else "question_fetch",
            remote=_text(f"{remote}{where}"),
            repository=_text(facts.repository.name),
            why=why,
        ),
        header="No answer",
        options=(
            Option(label=say("retry"), description=say("retry_does")),
            Option(label=say("cached"), description=say("cached_does", remote=remote)),
            Option(label=say("local"), description=say("local_does")),
            Option(label=say("abort"), description=say("abort_does")),
        ),
        default=None,
        allow_free_text=False,
    )


def answers_of(question: Question) -> tuple[Answer, ...]:
    """What each option stands for, by its place.

    A branch or a remote has a preview; of those without, the first leads to other ones, the second stops.
    """
    if question.kind == "fetch-failed":
        return tuple(Answer(kind="fetch-failed", name=name) for name in _FETCH_FAILED)
    _, _, page = question.id.partition(":")
    following = int(page or 1) + 1
    answers: list[Answer] = []
    plain = 0
    for option in question.options:
        if option.preview is not None:
            kind: Literal["branch", "remote"] = "branch" if question.kind == "base-branch" else "remote"
            answers.append(Answer(kind=kind, name=option.label))
        else:
            answers.append(Answer(kind="stop") if plain else Answer(kind="page", page=following))
            plain += 1
    return tuple(answers)


def breadcrumb(step: str, decision: Decision, language: Language = ENGLISH, *, of_several: bool = False) -> str:
    """Where a run of several steps is: `Step 3/5: base branch`; with the branch, and how, if nobody was asked.

    `of_several`: the repository is named, too.
    """
    check_step(step)
    say = language.say
    crumb = say("breadcrumb", step=step)
    if of_several:
        crumb = say("breadcrumb_of", breadcrumb=crumb, repository=_text(decision.repository))
    if decision.base_branch is None or decision.base_branch_source == "asked":
        return crumb
    how = "breadcrumb_input" if decision.base_branch_source == "input" else "breadcrumb_auto"
    return say(how, breadcrumb=crumb, branch=decision.base_branch)


def check_step(step: str) -> None:
    """InvalidInput for what is no step of so many."""
    found = _STEP.fullmatch(step)
    if found is None or (found[2] is not None and int(found[1]) > int(found[2])):
        raise InvalidInput(f"{printable(step)!r} is no step", where="--step", hint="--step 3/5, or --step 3")


# --- pages ---


def _page(likely: Sequence[str], others: Sequence[str], page: int) -> tuple[Sequence[str], int | None]:
    """The names of one page, and the page that its last option leads to; None where there is one page alone.

    Likely ones and others never share a page. After the last one the first comes again.
    """
    if page < 1:
        raise InvalidInput(f"there is no page {page}", where="--page", hint="--page 1")
    if not (likely and others) and len(likely) + len(others) <= MOST_OPTIONS:
        return likely or others, None
    pages = [group[at : at + MOST_OPTIONS - 1] for group in (likely, others) for at in _starts(group)]
    return pages[(page - 1) % len(pages)], page + 1


def _starts(group: Sequence[str]) -> range:
    return range(0, len(group), MOST_OPTIONS - 1)


def _id(kind: str, page: int) -> str:
    return kind if page == 1 else f"{kind}:{page}"


# --- rows ---


def _decisive(ranking: Ranking) -> list[str]:
    """The branches with the highest score, as far as the issue's version or a linked release speaks for them."""
    top = ranking.candidates[0].score if ranking.candidates else 0
    return [c.branch for c in ranking.candidates if c.score == top and decisive_reason(c) is not None]


def _remembered(facts: Facts, listed: Mapping[str, object]) -> dict[str, RecentChoice]:
    """The few newest choices that still count and are listed, newest first."""
    days = facts.settings.branch_ttl_days
    live = [choice for choice in facts.recent if choice.branch in listed and not is_expired(choice, facts.now, days)]
    found: dict[str, RecentChoice] = {}
    for choice in to_show(live):
        found.setdefault(choice.branch, choice)
    return found


def _option(
    name: str,
    candidate: Candidate | None,
    choice: RecentChoice | None,
    language: Language,
    *,
    recommended: bool,
) -> Option:
    say = language.say
    evidence = candidate.evidence if candidate is not None else ()
    if candidate is None:
        description = say("branch_left_out")
    else:
        reason = split_detail(evidence[0])[1] if evidence else say("no_evidence")
        description = say("branch", reason=_text(reason, _LONGEST_REASON), score=candidate.score)
    if choice is not None:
        date = f"{choice.last_used:%Y-%m-%d}"
        description = say("remembered", date=date, count=choice.count, description=description)
    if recommended:
        description = say("recommended", description=description)
    lines = [say("preview_branch", branch=name), *(f"{e.kind}: {printable(e.detail)}" for e in evidence)]
    return Option(label=name, description=description, preview="\n".join(lines))


def _text(text: str, longest: int = _LONGEST_TEXT) -> str:
    """Words from outside as a sentence may hold them."""
    text = printable(text)
    return text if len(text) <= longest else text[: longest - 3] + "..."


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")
