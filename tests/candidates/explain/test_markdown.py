"""Markdown and Mermaid for pasting: the whole of both, and text from outside that stays text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace as altered

from candidates.commands.explain import View, text_of
from candidates.explain.markdown import label, markdown, mermaid, span
from candidates.explain.records import Recorded, parse_saved, recorded
from candidates.run.replay import recollected
from ranking.facts import Issue, IssueVersion
from ranking.ranker import rank
from tests.ranking.facts_builder import facts, wants
from tests.support.fitted import unfitted

if TYPE_CHECKING:
    from ranking.facts import Facts

LINES = "main release/8.3.0 release/8.4.0"


def of(bundle: Facts) -> Recorded:
    return recorded(recollected(bundle))


FOUND = of(facts(LINES, tags="v8.3.0@release/8.3.0", issue=wants("8.4.0"), dates={"release/8.4.0": 3}))
TIED = of(facts(LINES, issue=wants(("8.3.0", "8.4.0"))))


def test_the_whole_markdown() -> None:
    assert unfitted(markdown(FOUND)) == unfitted(MARKDOWN)


MARKDOWN = """\
**Base branch:** `release/8.4.0` (derived)

* repository: `acme/app`
* as of: 2026-11-30 09:00:00 UTC
* issue: `APP-1` (answered); it names `fixVersions 8.4.0`
* branches listed by: the remote itself
* convention: `release/{major}.{minor}.{patch}`, 2 members

### Candidates

* `release/8.4.0`: **105**, last commit 2026-11-27
  * +100 issue-version: `fixVersions 8.4.0: this branch's version`
  * +5 ref-provenance: `the remote listed it in this run`
* `main`: **43**
  * +30 repo-default: `the server's default branch`
  * +8 sort-order: `number 1 of the default order`
  * +5 ref-provenance: `the remote listed it in this run`
* `release/8.3.0`: **13**, carries `v8.3.0`
  * +2 version-convention: `one of 2 named under release/{major}.{minor}.{patch}`
  * +6 sort-order: `number 3 of the default order`
  * +5 ref-provenance: `the remote listed it in this run`

### Rules

* remembered passed: `nothing is remembered for this project`
* derived **fired**: `+100: fixVersions 8.4.0: this branch's version`
* default passed: `not needed, derived came first: the server's default branch`

### Notes

* `replayed: these are the facts of 2026-11-30T09:00:00Z`
"""


def test_a_tie_and_what_would_decide_it() -> None:
    said = markdown(TIED).splitlines()
    assert said[0] == "**Base branch:** `release/8.4.0`, `release/8.3.0` tie; taken: `main`"
    start = said.index("### What would decide it")
    assert said[start + 2] == ("* `release/8.4.0` (derived): `fixVersions 8.4.0 on APP-1, without fixVersions 8.3.0`")


def test_the_whole_picture() -> None:
    assert unfitted(mermaid(FOUND)) == unfitted(PICTURE)


PICTURE = """\
```mermaid
flowchart LR
  work["issue APP-1<br/>names fixVersions 8.4.0"]
  b0["branch release/8.4.0<br/>105 points"]
  work ==>|"issue-version"| b0
  b1["branch main<br/>43 points"]
  work -.->|"repo-default"| b1
  b2["branch release/8.3.0<br/>13 points"]
  work -.->|"sort-order"| b2
  style b0 stroke-width:4px
```
"""


def test_a_picture_of_many_has_the_first_and_counts_the_rest() -> None:
    said = mermaid(of(facts(f"main {' '.join(f'release/8.{n}' for n in range(9))}"))).splitlines()
    assert '  more["and 4 more candidates"]' in said
    assert '  b6["' not in "\n".join(said)


def test_both_are_two_documents_with_an_empty_line_between() -> None:
    assert text_of(FOUND, View(markdown=True, mermaid=True)).decode() == f"{markdown(FOUND)}\n{mermaid(FOUND)}"


def test_a_record_says_what_it_cannot_tell() -> None:
    ranking = altered(rank(facts(LINES, issue=wants("8.4.0"))))
    said = markdown(Recorded(kind="ranking", name=None, ranking=ranking)).splitlines()
    assert said[0] == "**Base branch:** undecided"
    assert "### What this ranking cannot tell" in said
    assert not [line for line in said if line.startswith("* repository")]


# --- hostile text ---

HOSTILE = (
    "`][x](javascript:alert(1))",
    "```\n## heading",
    "<img src=x onerror=alert(1)>",
    "@everyone #1 GH-1",
    "</code><script>",
    "a``b`c",
    '"] --> b1; click b0 "javascript:alert(1)"',
    "end\nclick b0 call x()",
    "%%{init: {}}%%",
    "`",
    "\u202e\x1b[31m",
    "",
    " ",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_span_is_one_code_span(text: str) -> None:
    written = span(text)
    ticks = re.match("`+", written)
    assert ticks is not None
    width = len(ticks[0])
    # One opening run and one closing run of that length, and none of it between (CommonMark 0.31, 6.1).
    assert [len(run) for run in re.findall("`+", written)].count(width) == 2
    assert written.endswith("`" * width)
    assert len(written) > 2 * width
    assert written.isprintable()


@pytest.mark.parametrize("text", HOSTILE)
def test_a_label_holds_nothing_that_means_anything(text: str) -> None:
    assert re.fullmatch(r"(?:[A-Za-z0-9 ./-]|#[0-9]+;)*", label(text))


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_from_outside_stands_bare(text: str) -> None:
    branch = f"release/9.9{text}"
    issue = Issue(key=text, read="answered", versions=(IssueVersion(name=f"8.4.0 {text}", field=text, role="fix"),))
    record = of(facts(("main", "release/8.4.0", branch), issue=issue, name=text or "acme"))
    outside_spans = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", markdown(record))
    assert not re.search(r"[<>`@\[\]|\\]|javascript|script|heading", outside_spans)
    picture = mermaid(record)
    assert picture.count("```") == 2
    body = picture.splitlines()[2:-1]
    allowed = re.compile(
        r'  (?:\w+\["[\w ./#;<>-]*"\]|work (?:==>|-\.->)(?:\|"[a-z-]*"\|)? \w+|style \w+ stroke-width:4px)'
    )
    assert [line for line in body if not allowed.fullmatch(line)] == []
    assert set(re.findall("<[^>]*>", picture)) <= {"<br/>"}


def test_a_source_that_is_no_word_of_the_contract_is_not_written() -> None:
    state = (
        b'{"baseBranch": "main", "baseBranchSource": "[x](http://evil)", "baseBranchEvidence": '
        b'{"refProvenance": "remote", "ambiguous": false, "candidates": [], "notes": []}}'
    )
    assert markdown(parse_saved(state, "it", {})).splitlines()[0] == "**Base branch:** `main`"
