"""The page: well formed, loading nothing, the same bytes again, all that `explain` says; outside text stays text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as altered

from candidates.commands.explain import View, lines_of
from candidates.contract import Remote, Source, TrailEntry, encode_pretty
from candidates.explain.page.page import page
from candidates.explain.records import Recorded, parse_saved, recorded
from candidates.run.decide import Policy, decide
from candidates.run.replay import recollected
from collectors.errors import InvalidInput
from ranking.facts import Candidate, Convention, Evidence, Failure, Issue, IssueVersion, Ranking, Tag
from ranking.names import printable
from ranking.ranker import rank
from tests.ranking.facts_builder import NOW, facts, unhurried, wants
from tests.support.html_reader import PLAIN_TAGS, Page, read_page
from tests.support.program import base_branch

if TYPE_CHECKING:
    from ranking.facts import Facts
    from tests.support.repositories import MakeStand

LINES = "main release/8.3.0 release/8.4.0"
TAGS = tuple(
    Tag(name=f"v8.{minor}.0", created_at=NOW - timedelta(days=90 - 20 * minor), branches=(f"release/8.{minor}.0",))
    for minor in (3, 4)
)
TIED = facts(LINES, tags=TAGS, issue=wants(("8.3.0", "8.4.0")), dates={"main": 1, "release/8.4.0": 3})

_FETCHING = frozenset("src srcset href action formaction data poster background style ping xlink:href".split())


def of(bundle: Facts) -> Recorded:
    return recorded(recollected(bundle), "bundle")


def checked(record: Recorded) -> Page:
    """The page of a record, found sound in every way that does not depend on what it says."""
    text = page(record)
    read = read_page(text)
    assert read.problems == ()
    assert read.tags().keys() <= PLAIN_TAGS
    for element in read.elements:
        fetching = {k: v for k, v in element.attributes.items() if k in _FETCHING or k.startswith("on")}
        assert all(k == "href" and v.startswith("#") for k, v in fetching.items()), (element.tag, fetching)
        assert element.tag != "th" or element.attributes.get("scope") in ("row", "col")
        assert element.attributes.get("role") != "region" or element.attributes["tabindex"] == "0"
    ids = [e.attributes["id"] for e in read.elements if "id" in e.attributes]
    named = [key for e in read.elements for key in e.attributes.get("aria-labelledby", "").split()]
    links = [e.attributes["href"][1:] for e in read.all("a")]
    assert len(ids) == len(set(ids))
    assert {*named, *links} <= set(ids)
    assert read.one("html").attributes["lang"] == "en"
    assert len(read.all("h1")) == 1
    assert text.isprintable() or set(text) - {"\n"} == {c for c in text if c.isprintable()}
    return read


def refuses_all_but_its_style(read: Page) -> bool:
    """Whether the policy allows the style sheet that is there, by its hash, and nothing else."""
    meta = next(e for e in read.all("meta") if "http-equiv" in e.attributes)
    allowed = base64.b64encode(hashlib.sha256(read.one("style").said.encode()).digest()).decode()
    assert meta.attributes["http-equiv"] == "Content-Security-Policy"
    return meta.attributes["content"] == (
        f"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'"
    )


# --- what it says ---


def test_a_bundle_gives_all_that_the_terminal_says() -> None:
    record = of(TIED)
    read = checked(record)
    assert refuses_all_but_its_style(read)
    whole = re.sub(r"\s+", " ", read.one("body").said)
    said = ["".join(text for _, text in line) for line in lines_of(record, View())]
    assert read.one("h1").said == said[0]
    words = {word.strip(":;,()") for line in said for word in line.casefold().split()}
    assert {word for word in words if word not in whole.casefold()} == set()
    assert [e.said for e in read.all("h2")] == [
        "What would decide it",
        "Candidates",
        "Release lines over time",
        "What an unattended run does",
        "Who answered",
        "The convention",
        "Notes",
        "What this bundle cannot tell",
    ]


def test_a_live_run_says_how_long_each_source_took(stand: MakeStand, tmp_path: Path) -> None:
    lines, file = stand("release_lines"), tmp_path / "page.html"
    done = base_branch("explain", lines.clone.path, "--issue-version", "8.4.0", "--html", file)
    assert (done.code, done.out, done.err) == (0, b"", f"base-branch: the page is {file}\n")
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith((".", "page"))] == ["page.html"]
    read = read_page(file.read_text(encoding="utf-8"))
    assert read.one("h1").said == "Work for 8.4.0 belongs on release/8.4.0"
    assert re.search(r"remoteanswered\d+ ms", read.below("sources").replace("\n", ""))
    lanes = ["develop", "main", "release/8.4.0", "release/8.3.0", "release/8.2.0"]
    assert [e.attributes["title"] for e in read.all("li") if "title" in e.attributes] == lanes


def test_a_decision_has_its_sources_and_no_picture() -> None:
    decision = decide(recollected(TIED), Policy(autonomy="manual", replay=True))[0]
    read = checked(parse_saved(encode_pretty(decision), "it", {}))
    assert read.all("figure") == []
    assert "No picture: this decision names neither the tags nor the days of commits" in read.below("lines")
    assert "a replay" in read.below("sources")
    assert "what would decide it: without the facts nothing can be ranked again" in read.below("unknown")
    assert "ambiguous: release/8.4.0, release/8.3.0 tie with 105 points" in read.below("rules")


def test_a_state_and_a_ranking_say_what_they_cannot_tell() -> None:
    ranking = rank(TIED)
    evidence = {k: v for k, v in json.loads(encode_pretty(ranking)).items() if v is not None}
    state = {"baseBranch": "release/8.3.0", "baseBranchSource": "asked", "baseBranchEvidence": evidence}
    read = checked(parse_saved(json.dumps(state).encode(), "it", {}))
    assert "The recorded answer is release/8.3.0 (asked)" in read.one("header").said
    assert read.all("tr", "answer")[0].said.startswith("2release/8.3.0tie, chosen")
    assert "What each source answered is not recorded." in read.below("sources")
    assert "which rules were tried and passed" in read.below("unknown")
    alone = checked(parse_saved(encode_pretty(ranking), "it", {}))
    assert "which branch was taken in the end" in alone.below("unknown")


def test_the_answer_and_the_ties_are_marked_in_words() -> None:
    read = checked(of(TIED))
    assert [e.said for e in read.all("span", "badge")] == ["tie", "tie", "by default"] * 1 + [
        "by default",
        "tie",
        "tie",
    ]
    taken = checked(of(facts(LINES, issue=wants("8.4.0"))))
    assert [e.said for e in taken.all("span", "badge")] == ["answer", "answer"]
    both = checked(of(facts(LINES, issue=wants(("8.4.0", "9.0.0")))))
    assert both.all("span", "answer")[0].said == "tie, by default"


def test_the_same_facts_in_any_order_give_the_same_bytes() -> None:
    many = facts(
        f"main {' '.join(f'release/8.{n}' for n in range(9))}",
        tags=" ".join(f"v8.{n}.{k}@release/8.{n}" for n in range(9) for k in range(4)),
        issue=wants("8.4.3"),
        dates={f"release/8.{n}": n for n in range(5)},
    )
    branches, tags = many.refs.branches, many.refs.tags
    other = altered(many, refs=altered(many.refs, branches=branches[::-1], tags=(*tags[7:], *tags[:7])))
    assert page(of(many)) == page(of(many)) == page(of(other))


def test_what_a_branch_carries_is_its_newest_releases_by_day_or_not_known() -> None:
    late = Tag(name="v8.3.1", created_at=NOW, branches=("release/8.3.0",))
    read = checked(of(facts(LINES, tags=(*TAGS, late), issue=wants("8.4.1"))))
    assert [e.said for e in read.all("td", "carries")] == ["line 8.4.0v8.4.0", "", "line 8.3.0v8.3.1, v8.3.0"]
    shallow = checked(of(facts(LINES, tags="v8.3.0", issue=wants("8.4.1"))))
    assert shallow.all("td", "carries")[0].said == "releases not known"


# --- how much ---


def test_ten_thousand_candidates_are_counted_and_not_written() -> None:
    every = tuple(
        Candidate(
            branch=f"release/{n}.0",
            score=5,
            refs=(),
            evidence=(Evidence(kind="ref-provenance", detail="+5: the remote listed it in this run"),) * 30,
        )
        for n in range(10_000)
    )
    ranking = Ranking(
        ref_provenance="remote", ambiguous=False, convention=None, candidates=every, notes=("a note",) * 1000
    )
    record = Recorded(kind="ranking", name=None, ranking=ranking)
    read = checked(record)
    assert len(page(record)) < 400_000
    assert "and 9900 more candidates below" in read.below("candidates")
    assert "90 more candidates" in read.below("candidates")
    assert "and 10 more reasons" in read.below("candidates")
    assert "and 800 more" in read.below("notes")


def test_a_very_long_name_is_cut_and_its_length_said() -> None:
    read = checked(Recorded(kind="state", name="x" * 5_000, ranking=rank(TIED)))
    assert f"{'x' * 600}… and 4400 more characters" in read.one("header").said


# --- text from outside ---

HOSTILE = (
    "</svg><script>alert(1)</script>",
    '"><img/src=x/onerror=alert(1)>',
    "'onmouseover='alert(1)",
    "javascript:alert(1)",
    "</title></style><style>*{display:none}",
    "</code></li></ol><iframe/src=//evil>",
    "]]><!--",
    "-->&lt;&#60;script&gt;&amp;",
    "<!DOCTYPE x>",
    "\u202e\u2066gpj.exe\u2069",
    "\x00\x1b[31m\x7f\r\n\t",
    "\udcff\ufeff\u2028",
    "{percent}%s{0}",
)


def hostile(text: str) -> Recorded:
    """A record of whose every text from outside this is a part."""
    versions = (
        IssueVersion(name="8.4.0", field=text, role="fix"),
        IssueVersion(name=f"8.3.0 {text}", field="fixVersions", role="fix"),
        IssueVersion(name=text, field="fixVersions", role="fix", inherited_from=text),
    )
    bundle = facts(
        ("main", "release/8.4.0", f"release/8.3.0{text}", text, f"release/{text}/7.1", "stable-7.1"),
        tags=(
            *TAGS,
            Tag(name=f"v8.4.0{text}", branches=("release/8.4.0",), created_at=NOW),
            Tag(name=f"{text}-v7.1.0", branches=(f"release/{text}/7.1", "stable-7.1"), created_at=NOW),
            Tag(name=f"{text}-v7.0.0", branches=(), created_at=NOW),
        ),
        issue=Issue(key=text, read="partial", versions=versions, failure=Failure(kind="unknown", detail=text)),
        name=text or "acme",
    )
    bundle = altered(
        bundle, repository=altered(bundle.repository, remote=text, url=text, remote_reason=text, default_branch="main")
    )
    said = recorded(recollected(bundle), "bundle")
    return Recorded(
        kind="bundle",
        name=said.name,
        ranking=altered(
            said.ranking,
            convention=Convention(template=text, members=2),
            candidates=(
                *said.ranking.candidates,
                Candidate(
                    branch=text, score=1, refs=(text,), evidence=(Evidence(kind="recent", detail=f"+1: {text}"),)
                ),
            ),
            notes=(*said.ranking.notes, text),
        ),
        branch=text,
        source=text,
        trail=(TrailEntry(rule="derived", fired=True, reason=text),),
        log=(text,),
        remote=Remote(name=text, url=text, reason=text),
        sources=(Source(name="remote", state="failed", kind="unknown", host=text, detail=text, ms=3),),
        collected=said.collected,
    )


def is_text(record: Recorded, text: str) -> None:
    """The page has the text, made visible, as text and nothing else."""
    read = checked(record)
    assert refuses_all_but_its_style(read)
    assert printable(text) in read.below("notes")
    assert printable(text) in read.below("candidates")
    page(record).encode()


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_outside_stays_text(text: str) -> None:
    record = hostile(text)
    is_text(record, text)
    read = checked(record)
    assert printable(text) in [e.said for e in read.all("code")]
    assert printable(text) in read.below("sources")
    # Without facts the same, by the other way through.
    alone = Recorded(
        kind="state", name=text, ranking=record.ranking, branch=text, source=text, trail=record.trail, log=(text,)
    )
    is_text(alone, text)
    assert printable(text) in checked(alone).one("h1").said


@unhurried
@given(st.text(st.sampled_from("<>&\"'/=`-!]\x00\u202e\ud800 ax;#{}"), max_size=12))
def test_any_text_stays_text(text: str) -> None:
    ranking = Ranking(
        ref_provenance="remote",
        ambiguous=False,
        convention=Convention(template=text, members=1),
        candidates=(
            Candidate(branch=text, score=0, refs=(), evidence=(Evidence(kind="recent", detail=f"+0: {text}"),)),
        ),
        notes=(text,),
    )
    is_text(Recorded(kind="ranking", name=text, ranking=ranking, branch=text, source=text), text)


# --- where it is written ---


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    file, bundle = tmp_path / "page.html", tmp_path / "bundle.json"
    bundle.write_bytes(encode_pretty(TIED))
    link = tmp_path / "link.html"
    link.symlink_to(file)
    done = base_branch("explain", "--bundle", bundle, "--html", link)
    assert (done.code, done.out, done.err) == (0, b"", f"base-branch: the page is {link}\n")
    assert link.is_symlink()
    assert file.read_text(encoding="utf-8") == page(of(TIED))
    refused = base_branch("explain", "--bundle", bundle, "--html", bundle / "page.html")
    assert (refused.code, refused.out) == (2, b"")
    assert "--html: " in refused.err
    assert "cannot be written: not a directory" in refused.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bundle.json", "link.html", "page.html"]


def test_standard_output_and_other_views_are_refused_before_anything_is_asked() -> None:
    with pytest.raises(InvalidInput, match="--html: a page is written to a file"):
        View(html=Path("-"))
    for other in ({"markdown": True}, {"mermaid": True}, {"as_json": True}, {"why": "main"}):
        with pytest.raises(InvalidInput, match=r"--html.* cannot go together"):
            View(html=Path("page.html"), **other)
