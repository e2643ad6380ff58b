"""What an earlier run left, explained again: each kind by what it holds, and what it cannot tell."""

from __future__ import annotations

import io
import json
import os
from typing import TYPE_CHECKING

import pytest

from candidates.commands.explain import View, lines_of, read_record
from candidates.contract import decode_bundle, encode_pretty
from candidates.explain.records import parse_saved, save_bundle
from candidates.run.decide import Policy, decide
from candidates.run.replay import recollected
from collectors.errors import InvalidInput
from ranking.ranker import rank
from tests.ranking.facts_builder import facts, wants
from tests.support.program import base_branch

if TYPE_CHECKING:
    from pathlib import Path

    from candidates.explain.records import Recorded
    from tests.support.repositories import MakeStand

TIED = facts("main release/8.3.0 release/8.4.0 feature/x", issue=wants(("8.3.0", "8.4.0")))
BUNDLE = encode_pretty(TIED)
RANKING = encode_pretty(rank(TIED))
DECISION = encode_pretty(decide(recollected(TIED), Policy(autonomy="manual", replay=True))[0])
STATE = json.dumps(
    {
        "taskType": "bug",
        "baseBranch": "release/8.3.0",
        "baseBranchSource": "asked",
        "baseBranchEvidence": {k: v for k, v in json.loads(RANKING).items() if v is not None},
    }
).encode()


def read(data: bytes, **flags: object) -> Recorded:
    return parse_saved(data, "the file", flags)


def told(record: Recorded, view: View | None = None) -> list[str]:
    return ["".join(text for _, text in line) for line in lines_of(record, view or View())]


def unknown(said: list[str]) -> list[str]:
    title = next(i for i, line in enumerate(said) if line.startswith("What this "))
    return [line.strip() for line in said[title:]]


RANKED_AGAIN = "what would decide it: without the facts nothing can be ranked again"
BESIDE = "which branches and tags were listed beside these candidates, and when each was last committed to"


def test_a_bundle_tells_all_that_a_run_tells() -> None:
    said = told(read(BUNDLE))
    assert said[0] == "The evidence does not decide where work on APP-1 belongs: release/8.4.0, release/8.3.0 tie."
    assert "What would decide it (each seen to, by ranking again with that one change)" in said
    assert unknown(said) == [
        "What this bundle cannot tell",
        "how long each source took then, and which were asked in vain, beyond what the facts say",
        "what has changed since",
    ]


def test_a_source_that_was_not_asked_took_no_time_and_has_no_reason() -> None:
    said = told(read(BUNDLE))
    assert "  remote      not-asked: origin: a replay" in said
    assert "  convention  release/{major}.{minor}.{patch}, 2 members: release/8.4.0, release/8.3.0" in said
    many = facts(f"main {' '.join(f'release/8.{n}' for n in range(7))}")
    assert "  convention  release/{major}.{minor}, 7 members: " + ", ".join(
        (*(f"release/8.{n}" for n in (6, 5, 4, 3, 2)), "and 2 more")
    ) in told(read(encode_pretty(many)))


def test_a_flag_goes_before_the_settings_of_a_bundle() -> None:
    assert told(read(BUNDLE, **{"--multiple-versions": "highest"}))[0] == "Work on APP-1 belongs on release/8.4.0"


def test_a_decision_tells_the_evidence_and_the_trail() -> None:
    said = told(read(DECISION))
    assert said[:4] == [
        "The evidence does not decide: release/8.4.0, release/8.3.0 tie.",
        "No branch is recorded as the answer.",
        "",
        "acme/app, from a decision",
    ]
    assert "  remote      not-asked: origin (as the bundle says): a replay" in said
    assert "  passed  derived    ambiguous: release/8.4.0, release/8.3.0 tie with 105 points" in said
    assert unknown(said) == [
        "What this decision cannot tell",
        BESIDE,
        "what the issue names, beyond what the evidence quotes",
        RANKED_AGAIN,
    ]


def test_a_state_tells_the_answer_and_the_evidence() -> None:
    said = told(read(STATE))
    assert said[1] == "The recorded answer is release/8.3.0 (asked)"
    assert "What an unattended run does" not in said
    assert unknown(said)[0] == "What this state cannot tell"
    assert "which rules were tried and passed, and what each source answered" in unknown(said)


def test_a_ranking_tells_the_evidence_alone() -> None:
    said = told(read(RANKING))
    assert said[1] == "No branch is recorded as the answer."
    assert unknown(said)[1:] == [BESIDE, "which branch was taken in the end, and by which rule", RANKED_AGAIN]


def test_why_from_a_state() -> None:
    assert told(read(STATE), View(why="main"))[:6] == [
        "main is number 3 of the 3 recorded candidates, with 43 points.",
        "+30 repo-default: the server's default branch.",
        "+8 sort-order: number 1 of the default order.",
        "+5 ref-provenance: the remote listed it in this run.",
        "release/8.4.0 is first, with 105.",
        "The recorded answer is release/8.3.0 (asked).",
    ]


def test_why_not_a_branch_that_a_record_does_not_have() -> None:
    assert told(read(DECISION), View(why_not="feature/x"))[:4] == [
        "feature/x is none of the 3 recorded candidates.",
        "Whether it was listed, this decision does not tell; a bundle would.",
        "A note names it: left out as work branches: 1: feature/x",
        "No answer is recorded: a person had to choose.",
    ]
    assert told(read(DECISION), View(why_not="-x"))[0].startswith("-x can never be an answer: it begins with a dash")


def test_several_decisions_are_one_too_many() -> None:
    one = json.loads(DECISION)
    several = {"schema": "base-branch/decisions@1", "decisions": [one, one]}
    with pytest.raises(InvalidInput, match="holds 2 decisions"):
        read(json.dumps(several).encode())
    single = read(json.dumps(several | {"decisions": [one]}).encode())
    assert (single.kind, single.name) == ("decision", "acme/app")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"{}", "the file is no bundle, no decision, no ranking, and no state with baseBranchEvidence"),
        (b"[]", "expected `object`, got `array`"),
        (b"{", "the file is no JSON"),
        (b'{"schema": "base-branch/bundle@2", "candidates": []}', "the file is no bundle"),
        (b'{"baseBranchEvidence": null}', "baseBranchEvidence: the file has no evidence"),
        (b'{"baseBranchEvidence": {"zip": 1}}', "zip: unknown field"),
        (DECISION.replace(b'"autonomy": "manual"', b'"autonomy": "x"'), "autonomy: invalid enum value 'x'"),
    ],
)
def test_what_is_none_of_them_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(data)
    assert str(caught.value).startswith(problem)


def test_flags_that_have_no_say_are_refused() -> None:
    with pytest.raises(InvalidInput, match="--max-candidates cannot change what the file says: it holds no facts"):
        read(STATE, **{"--max-candidates": 3})
    with pytest.raises(InvalidInput, match="--remote cannot go with --bundle: what is known stands in the file"):
        read_record("-", io.BytesIO(BUNDLE), {"--remote": "origin", "--issue": None}, View())
    with pytest.raises(InvalidInput, match="--json cannot go with --bundle"):
        read_record("-", io.BytesIO(BUNDLE), {}, View(as_json=True))


def test_views_that_cannot_be_had_at_once() -> None:
    with pytest.raises(InvalidInput, match="--why and --markdown cannot go together"):
        View(why="main", markdown=True)
    assert View(why="main", why_not="x", as_json=False).why == "main"


def test_a_bundle_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    save_bundle(file, TIED)
    assert decode_bundle(file.read_bytes()) == TIED
    assert [p.name for p in tmp_path.iterdir()] == ["b.json"]
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidInput, match=r"--save-bundle: .*folder cannot be written: it is no regular file"):
        save_bundle(tmp_path / "folder", TIED)
    with pytest.raises(InvalidInput, match="not a directory"):
        save_bundle(file / "b.json", TIED)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InvalidInput, match="pipe cannot be written: it is no regular file"):
        save_bundle(pipe, TIED)
    pipe.unlink()
    with pytest.raises(InvalidInput, match="a bundle is saved to a file"):
        save_bundle(file.__class__("-"), TIED)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.json", "folder"]
    save_bundle(tmp_path / "new" / "b.json", TIED)
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["b.json"]


def test_what_a_repository_put_beside_the_file_is_not_written_through(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine", encoding="utf-8")
    folder = tmp_path / "work-tree"
    folder.mkdir()
    # As a repository may hold them for every process id that there is.
    (folder / f".b.json.{os.getpid()}").symlink_to(precious)
    save_bundle(folder / "b.json", TIED)
    assert precious.read_text(encoding="utf-8") == "mine"
    assert not (folder / "b.json").is_symlink()


def test_a_file_that_is_there_keeps_its_mode_its_link_and_its_right_to_stay(tmp_path: Path) -> None:
    file, link, fresh = tmp_path / "b.json", tmp_path / "link.json", tmp_path / "fresh.json"
    file.touch(0o600)
    link.symlink_to(file)
    save_bundle(link, TIED)
    assert link.is_symlink()
    assert decode_bundle(file.read_bytes()) == TIED
    assert file.stat().st_mode & 0o777 == 0o600
    mask = os.umask(0o022)
    try:
        save_bundle(fresh, TIED)
    finally:
        os.umask(mask)
    assert fresh.stat().st_mode & 0o777 == 0o644
    file.chmod(0o400)
    with pytest.raises(InvalidInput, match=r"--save-bundle: .*b\.json cannot be written: it is read-only"):
        save_bundle(file, TIED)


def test_a_resolve_that_is_saved_is_explained_and_ranked_from_the_file(stand: MakeStand, tmp_path: Path) -> None:
    lines, file = stand("release_lines"), tmp_path / "b.json"
    options = ("--issue-version", "8.4.0")
    done = base_branch("resolve", lines.clone.path, "--autopilot", *options, "--save-bundle", file)
    assert (done.code, done.err) == (0, "")
    explained = base_branch("explain", "--bundle", file, "--why-not", "develop")
    assert (explained.code, explained.err) == (0, "")
    assert "release/8.4.0 is taken instead, by the rule derived:" in explained.out.decode()
    ranked = base_branch("rank", stdin=file.read_bytes())
    assert ranked.json() == done.json()["baseBranchEvidence"]


def test_one_bundle_for_two_repositories_is_refused(stand: MakeStand, tmp_path: Path) -> None:
    clone = stand("trunk_only").clone.path
    done = base_branch("resolve", clone, clone, "--save-bundle", tmp_path / "b.json")
    assert (done.code, done.out) == (2, b"")
    assert "the facts of one repository make a bundle" in done.err
    assert list(tmp_path.glob("*.json")) == []
