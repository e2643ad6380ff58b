"""Every host's payload, held against that host's own rules; the rules stand here, not in the renderer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as altered

from candidates.contract import Decision, Decisions, Option, Question, encode_line
from candidates.questions.hosts import HostName, cut_middle, host_named, render
from candidates.questions.languages import read_language
from candidates.questions.presentation import read_presentation
from candidates.questions.questions import Answer, Asking, base_branch_question, fetch_failed_question, remote_question
from candidates.resolver import resolve
from candidates.setup.schemas import schema_of
from collectors.errors import InvalidInput, SetupError
from ranking.facts import Failure
from ranking.ranker import rank
from tests.ranking.facts_builder import chose, facts, unhurried, wants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ranking.facts import Facts

HOSTS: tuple[HostName, ...] = get_args(HostName)
LONG = "release/" + "x" * 242
TWINS = [f"release/{'y' * 100}{n}{'z' * 100}" for n in range(3)]


def text(longest: int | None = None) -> dict[str, Any]:
    return {"type": "string", "minLength": 1} | ({} if longest is None else {"maxLength": longest})


def closed(**properties: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON Schema
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def several(item: dict[str, Any], least: int, most: int) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": least, "maxItems": most}


def option(longest: int | None = None) -> dict[str, Any]:
    """One option; a preview has at most sixty lines, and may be left out."""
    preview = {"type": "string", "pattern": r"\A([^\n]*\n){0,59}[^\n]*\Z"}
    return closed(label=text(longest), description=text(), preview=preview) | {"required": ["label", "description"]}


# The issue's own words: Claude Code: header at most 12, 2 to 4 options. Pi: 1 to 4 questions, header at most 16,
# label at most 60. orc: one call a gate, its chip as the header. All: (Recommended), previews, 4 questions at most.
RULES: dict[HostName, dict[str, Any]] = {
    "claude": closed(
        questions=several(
            closed(question=text(), header=text(12), options=several(option(), 2, 4), multiSelect={"const": False}),
            1,
            4,
        )
    ),
    "pi": closed(
        questions=several(closed(id=text(), question=text(), header=text(16), options=several(option(60), 2, 4)), 1, 4)
    ),
    "orc": closed(
        questions=several(
            closed(
                question=text(),
                header={"enum": ["REMOTE", "FETCH", "BASE"]},
                options=several(option(), 2, 4),
                multiSelect={"const": False},
            ),
            1,
            1,
        )
    ),
    "json": closed(
        questions=several(
            closed(
                id=text(),
                repository=text(),
                kind={"enum": ["remote", "fetch-failed", "base-branch"]},
                question=text(),
                header=text(),
                options=several(
                    closed(label=text(), description=text(), preview={"type": ["string", "null"]}),
                    2,
                    4,
                ),
                default={"enum": [None, 1]},
                allowFreeText={"type": "boolean"},
            ),
            1,
            4,
        )
    ),
}


def ask(bundle: Facts, **asking: Any) -> Question:  # noqa: ANN401 - handed on
    ranking = rank(bundle)
    return base_branch_question(bundle, ranking, resolve(bundle, ranking), Asking(**asking))


def calls(questions: Sequence[Question], host: HostName) -> list[dict[str, Any]]:
    """The calls as they go over the wire, each held against the host's rules."""
    wire = json.loads(encode_line(render(questions, host)))
    assert wire["host"] == host
    for call in wire["calls"]:
        jsonschema.validate(call["input"], RULES[host])
        (listed,) = (value for value in call["input"].values() if isinstance(value, list))
        assert len({question["question"] for question in listed}) == len(listed)
        for question, answers in zip(listed, call["answers"], strict=True):
            shown = [option["label"] for option in question["options"]]
            assert len(set(shown)) == len(shown) == len(answers)
    found: list[dict[str, Any]] = wire["calls"]
    return found


SILENT = facts(
    "main", provenance="local", complete=False, failure=Failure(kind="timed-out", detail="no answer", host="h.example")
)
QUESTIONS = {
    "clear": ask(facts("main release/1.0 release/1.1", issue=wants("1.0"))),
    "tie": ask(facts("main release/1.0 release/1.1", issue=wants(("1.0", "1.1")))),
    "one": ask(facts("main")),
    "none": ask(facts("", default=None)),
    "long": ask(facts(["main", "release/1.0", LONG], recent=(chose(LONG),))),
    "twins": ask(facts(TWINS)),
    "many": ask(facts([f"release/{n}.0" for n in range(10_000)], default=None)),
    "deep": ask(facts([f"release/{n}.0" for n in range(200)], default=None), page=40),
    "right to left": ask(facts(["main", "release/\u05d2\u05e8\u05e1\u05d4-1.0", "release/\u202e0.1", "release/\x07"])),
    "turkish": ask(facts("main", issue=wants("1.0")), language=read_language("tr")),
    "remotes": remote_question("acme/app", ["left", "right", "a" * 250, "b", "c"]),
    "silent": fetch_failed_question(SILENT),
}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("question", list(QUESTIONS.values()), ids=list(QUESTIONS))
def test_every_question_keeps_the_hosts_rules(question: Question, host: HostName) -> None:
    assert len(calls([question], host)) == 1


@pytest.mark.parametrize("host", HOSTS)
def test_the_questions_of_several_repositories_come_four_a_call(host: HostName) -> None:
    asked = calls([QUESTIONS["clear"]] * 9, host)
    assert [len(call["answers"]) for call in asked] == ([1] * 9 if host == "orc" else [4, 4, 1])
    assert render([], host).calls == ()


def test_questions_that_read_alike_are_told_apart() -> None:
    (call,) = calls([QUESTIONS["one"]] * 3, "claude")
    asked = "Which branch does the work in acme/app belong on?"
    assert [q["question"] for q in call["input"]["questions"]] == [asked, f"{asked} (2)", f"{asked} (3)"]


@unhurried
@given(
    st.lists(
        st.text(st.characters(categories=["L", "N", "M"]), min_size=1, max_size=300).map(lambda t: f"r/{t}"),
        min_size=1,
        max_size=6,
        unique=True,
    ),
    st.sampled_from(HOSTS),
)
def test_any_names_keep_the_hosts_rules_and_answers_are_whole(names: list[str], host: HostName) -> None:
    question = ask(facts(names, default=None))
    (call,) = calls([question], host)
    branches = [a["name"] for a in call["answers"][0] if a["kind"] == "branch"]
    assert branches == [o.label for o in question.options if o.preview is not None]


def test_a_long_name_is_cut_in_the_middle_and_opens_its_description() -> None:
    (call,) = calls([QUESTIONS["long"]], "pi")
    options = call["input"]["questions"][0]["options"]
    assert options[0]["label"] == "release/" + "x" * 15 + "\u2026" + "x" * 22 + " (Recommended)"
    assert options[0]["description"].startswith(f"{LONG}: recommended: chosen on 2026-11-29, 1x; ")
    assert options[1]["label"] == "main"
    assert not options[1]["description"].startswith("main")
    assert call["answers"][0][0] == {"kind": "branch", "name": LONG, "page": None}
    (whole,) = calls([QUESTIONS["long"]], "claude")  # which sets no limit
    assert whole["input"]["questions"][0]["options"][0]["label"] == f"{LONG} (Recommended)"


def test_names_that_are_cut_to_the_same_text_are_numbered() -> None:
    (call,) = calls([QUESTIONS["twins"]], "pi")
    shown = [option["label"] for option in call["input"]["questions"][0]["options"]]
    assert [label[-4:] for label in shown] == ["zzzz", " (2)", " (3)"]
    assert sorted(answer["name"] for answer in call["answers"][0]) == TWINS


@pytest.mark.parametrize("host", ["claude", "pi", "orc"])
def test_the_recommended_option_is_marked_in_its_label_and_options_keep_their_previews(host: HostName) -> None:
    (call,) = calls([QUESTIONS["clear"]], host)
    options = call["input"]["questions"][0]["options"]
    assert [o["label"] for o in options] == ["release/1.0 (Recommended)", "main", "release/1.1"]
    assert options[0]["preview"].startswith("cut from release/1.0\nissue-version: +")
    assert [answer["name"] for answer in call["answers"][0]] == ["release/1.0", "main", "release/1.1"]
    (tie,) = calls([QUESTIONS["tie"]], host)
    assert not any("Recommended" in o["label"] for o in tie["input"]["questions"][0]["options"])


def test_each_gate_of_orc_is_one_call_with_its_class() -> None:
    asked = calls([QUESTIONS["clear"], QUESTIONS["silent"]], "orc")
    assert [call["input"]["questions"][0]["header"] for call in asked] == ["BASE", "FETCH"]
    assert [call["gate"] for call in asked] == [
        {"id": "1-base-branch", "class": "soft-inward", "default": 1, "allowFreeText": True},
        {"id": "2-fetch-failed", "class": "escalation-only", "default": None, "allowFreeText": False},
    ]
    assert calls([QUESTIONS["clear"]], "claude")[0]["gate"] is None


def preview_of(lines: int) -> Question:
    preview = "\n".join(f"line {n}" for n in range(1, lines + 1))
    options = (Option(label="main", description="d", preview=preview), Option(label="x", description="d", preview="p"))
    return altered(QUESTIONS["one"], options=options)


def test_a_preview_over_sixty_lines_keeps_its_head_and_goes_to_a_file() -> None:
    kept: dict[str, str] = {}

    def keep(name: str, whole: str) -> str:
        kept[name] = whole
        return f"previews/{name}"

    question = preview_of(61)
    preview = render([question], "orc", keep=keep).calls[0].input["questions"][0]["options"][0]["preview"].split("\n")
    assert (len(preview), preview[58], preview[59]) == (60, "line 59", "... 2 more lines: previews/preview-1-1.txt")
    assert kept == {"preview-1-1.txt": question.options[0].preview}
    alone = render([question], "orc").calls[0].input["questions"][0]["options"][0]["preview"]
    assert alone.endswith("line 59\n... 2 more lines")


def test_a_preview_of_sixty_lines_stays_whole() -> None:
    question = preview_of(60)
    assert (
        render([question], "orc").calls[0].input["questions"][0]["options"][0]["preview"] == question.options[0].preview
    )


@given(st.text(max_size=120), st.integers(min_value=5, max_value=60))
@unhurried
def test_a_cut_text_is_never_longer_and_keeps_its_ends(whole: str, longest: int) -> None:
    cut = cut_middle(whole, longest)
    assert len(cut) <= longest
    head, _, tail = cut.partition("\u2026")
    assert cut == whole or (whole.startswith(head) and whole.endswith(tail))


def test_a_letter_keeps_its_accent_or_goes_with_it() -> None:
    assert cut_middle("ab" + "e\u0301" * 8, 7) == "ab\u2026e\u0301"


def test_json_is_the_question_itself() -> None:
    (call,) = calls([QUESTIONS["clear"]], "json")
    assert call["input"]["questions"] == [json.loads(encode_line(QUESTIONS["clear"]))]
    first = render([QUESTIONS["clear"]], "json").calls[0].answers[0][0]
    assert first == Answer(kind="branch", name="release/1.0")


def test_an_unknown_host_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=r"^--picker: there is no picker 'Claude'$") as raised:
        host_named("Claude")
    assert raised.value.hint == "--picker claude|pi|orc|json"


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_printed_stands_under_its_schema(host: HostName) -> None:
    jsonschema.validate(json.loads(encode_line(render([QUESTIONS["one"]], host))), schema_of("picker"))


# --- what is handed out ---


def undecided(*questions: Question) -> Decision:
    return Decision(repository="acme/app", autonomy="manual", remote=None, listing_complete=True, questions=questions)


def shown_as(answer: Decision | Decisions, **flags: Any) -> Any:  # noqa: ANN401 - a decision or a picker
    asked = {"picker": None, "language": None, "page": None, "step": None, "preview_dir": None} | flags
    return read_presentation(**asked).present(answer)


def test_without_questions_or_a_host_the_answer_itself_is_printed() -> None:
    decision = undecided(QUESTIONS["clear"])
    assert shown_as(decision) is decision
    assert shown_as(undecided(), picker="pi") == undecided()
    assert shown_as(decision, step="2/3") == altered(decision, breadcrumb="Step 2/3: base branch")


def test_the_picker_of_several_repositories_carries_the_breadcrumb() -> None:
    one = undecided(QUESTIONS["clear"])
    several = Decisions(decisions=(one, one), questions=(QUESTIONS["clear"], QUESTIONS["tie"]))
    picker = shown_as(several, picker="claude", step="3")
    assert (picker.breadcrumb, [len(call.answers) for call in picker.calls]) == ("Step 3: base branch", [2])


def test_a_long_preview_is_written_where_a_folder_is_named(tmp_path: Path) -> None:
    decision = undecided(preview_of(70))
    folder = tmp_path / "previews"
    picker = shown_as(decision, picker="orc", preview_dir=folder)
    assert [path.name for path in folder.iterdir()] == ["preview-1-1.txt"]
    assert (folder / "preview-1-1.txt").read_text() == f"{decision.questions[0].options[0].preview}\n"
    head = picker.calls[0].input["questions"][0]["options"][0]["preview"]
    assert head.endswith(f"line 59\n... 11 more lines: {folder}/preview-1-1.txt")
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match=r"^the preview .*/file/preview-1-1.txt cannot be written: "):
        shown_as(decision, picker="orc", preview_dir=tmp_path / "file")


@pytest.mark.parametrize("flags", [{"picker": "vim"}, {"language": "xx"}, {"step": "9/3"}])
def test_what_cannot_be_shown_is_refused_before_anything_is_asked(flags: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        shown_as(undecided(), **flags)
