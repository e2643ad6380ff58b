"""The recheck on real repositories: fresh, moved by N, gone, no answer; what it fetches, and what it cannot count."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from candidates.checks.recheck import Rechecked, recheck, recheck_changes, sentence
from candidates.run.collect import RemoteUndecided
from candidates.state_file import write_state
from collectors.errors import InvalidInput, SetupError
from collectors.process import Deadline
from tests.ranking.facts_builder import NOW
from tests.support.repositories import Repo
from tests.support.servers import HOST, http_answering, http_backend, refusing_port, silent_listener

if TYPE_CHECKING:
    from pathlib import Path

    from collectors.stores.store_file import Outcome
    from tests.support.repositories import Workshop

State = dict[str, Any]
BASE = "release/1.0"


def state(repo: Repo | None = None, /, **more: object) -> State:
    place = {"worktreePath": str(repo.path)} if repo else {}
    return {"baseBranch": BASE, "baseFetchStatus": "cached-stale", "branch": "feature/a"} | place | more


def again(repo: Repo, seconds: float = 30, remote: str | None = None, **more: object) -> Rechecked:
    return recheck(repo.port(), state(None, **more), Deadline(seconds), NOW, remote=remote)


@pytest.fixture
def source(workshop: Workshop) -> Repo:
    """The remote: main, a release line with one commit of its own, and another branch."""
    repo = workshop.init("source")
    repo.commit("line", branch=BASE)
    repo.commit("other", branch="other")
    return repo


@pytest.fixture
def work(workshop: Workshop, source: Repo) -> Repo:
    """A clone whose work branch stands on the release line, two commits on."""
    clone = workshop.clone(source, "work")
    clone.git("switch", "--quiet", "--create", "feature/a", f"origin/{BASE}")
    clone.commit("one")
    clone.commit("two")
    return clone


# --- fresh ---


def test_fresh_where_the_branch_holds_the_advertised_tip(work: Repo, source: Repo) -> None:
    before = work.refs()
    found = again(work)
    assert (found.status, found.exit_code, found.tip) == ("fresh", 0, source.oid(BASE))
    assert (found.remote, found.commits, found.uncounted, found.failure) == ("origin", None, None, None)
    assert work.refs() == before
    assert sentence(found) == "release/1.0 is fresh: feature/a holds all that origin has of it."


def test_fresh_again_after_the_base_was_merged_in(work: Repo, source: Repo) -> None:
    source.commit("newer", branch=BASE)
    assert again(work).status == "moved"
    work.git("merge", "--quiet", "--no-edit", f"origin/{BASE}")
    assert again(work).status == "fresh"


def test_a_base_that_was_wound_back_is_still_held(work: Repo, source: Repo) -> None:
    source.git("update-ref", f"refs/heads/{BASE}", source.oid("main"))
    assert again(work).status == "fresh"


def test_the_branch_of_the_state_counts_and_not_what_is_checked_out(work: Repo) -> None:
    work.git("switch", "--quiet", "--detach", "origin/main")
    assert again(work).status == "fresh"
    assert again(work, branch="main").commits == 1
    assert again(work, branch="refs/heads/feature/a", baseBranch=f"refs/heads/{BASE}").base_branch == BASE


def test_a_replacement_in_this_clone_does_not_make_an_ancestor(work: Repo, source: Repo) -> None:
    newer = source.commit("newer", branch=BASE)
    work.git("fetch", "--quiet", "origin")
    work.git("replace", "--graft", "feature/a", "feature/a~1", newer)
    assert work.git("merge-base", newer, "feature/a") == newer
    found = again(work)
    assert (found.status, found.commits) == ("moved", 1)
    assert found.merge_base == source.oid(f"{BASE}~1")


def test_a_graft_in_this_clone_does_not_make_an_ancestor(work: Repo, source: Repo) -> None:
    newer = source.commit("newer", branch=BASE)
    work.git("fetch", "--quiet", "origin")
    grafts = work.path / ".git" / "info" / "grafts"
    grafts.parent.mkdir(exist_ok=True)
    grafts.write_text(f"{work.oid('feature/a')} {work.oid('feature/a~1')} {newer}\n", encoding="ascii")
    assert work.git("-c", "advice.graftFileDeprecated=false", "merge-base", newer, "feature/a") == newer
    found = again(work)
    assert (found.status, found.commits, found.merge_base) == ("moved", 1, source.oid(f"{BASE}~1"))


def test_a_history_cut_by_hand_does_not_make_an_ancestor(work: Repo, source: Repo) -> None:
    newer = source.commit("newer", branch=BASE)
    work.git("fetch", "--quiet", "origin")
    (work.path / ".git" / "shallow").write_text(f"{newer}\n{work.oid('feature/a')}\n", encoding="ascii")
    found = again(work)
    assert (found.status, found.commits, found.uncounted) == ("moved", None, "the clone is shallow")


# --- moved ---


@pytest.mark.parametrize(("count", "said"), [(1, "1 commit"), (3, "3 commits")])
def test_moved_counts_what_the_branch_lacks_since_the_merge_base(
    work: Repo, source: Repo, count: int, said: str
) -> None:
    began = source.oid(BASE)
    for number in range(count):
        source.commit(f"newer {number}", branch=BASE)
    source.commit("aside", branch="other")
    before = work.refs()
    found = again(work)
    assert (found.status, found.exit_code, found.commits) == ("moved", 12, count)
    assert (found.merge_base, found.tip, found.uncounted) == (began, source.oid(BASE), None)
    assert sentence(found) == f"release/1.0 moved by {said} that feature/a lacks since {began[:12]}: rebase."
    # That one ref was brought to count, and nothing else.
    assert work.refs() == before | {f"refs/remotes/origin/{BASE}": source.oid(BASE)}


def test_nothing_is_fetched_where_the_tip_is_here_already(work: Repo, source: Repo) -> None:
    newer = source.commit("newer", branch=BASE)
    work.git("fetch", "--quiet", "origin", f"refs/heads/{BASE}:refs/kept")
    work.git("update-ref", f"refs/remotes/origin/{BASE}", f"{newer}~1")
    before = work.refs()
    assert again(work).commits == 1
    assert work.refs() == before


def test_a_rewritten_base_is_counted_from_where_they_parted(work: Repo, source: Repo) -> None:
    source.git("update-ref", f"refs/heads/{BASE}", "main")
    source.commit("rewritten", branch=BASE)
    found = again(work)
    assert (found.status, found.commits, found.merge_base) == ("moved", 1, source.oid("main"))


def test_a_base_without_common_history_is_said_to_be_so(work: Repo, source: Repo) -> None:
    root = source.git("commit-tree", "-m", "new root", "main^{tree}")
    source.git("update-ref", f"refs/heads/{BASE}", root)
    found = again(work)
    assert (found.status, found.commits, found.merge_base) == ("moved", 1, None)
    assert "moved by 1 commit that feature/a lacks, which share no history with it: rebase." in sentence(found)


def test_of_two_merge_bases_one_is_named_every_time(work: Repo, source: Repo) -> None:
    ours, theirs = work.oid("feature/a~1"), source.commit("theirs", branch=BASE)
    work.git("fetch", "--quiet", "origin")
    # Criss-cross: each side merges the other's last but one.
    tree = "main^{tree}"
    work.git("push", "--quiet", "origin", f"{ours}:refs/heads/crossing")
    source.git("update-ref", f"refs/heads/{BASE}", source.git("commit-tree", "-p", theirs, "-p", ours, "-m", "x", tree))
    work.git("update-ref", "refs/heads/feature/a", work.git("commit-tree", "-p", ours, "-p", theirs, "-m", "y", tree))
    found = again(work)
    assert (found.status, found.commits, found.merge_base) == ("moved", 1, min(ours, theirs))


# --- what cannot be counted ---


def test_a_shallow_clone_says_that_it_cannot_count(workshop: Workshop, source: Repo) -> None:
    clone = workshop.clone(f"file://{source.path}", "shallow", "--depth=1", f"--branch={BASE}")
    clone.git("switch", "--quiet", "--create", "feature/a")
    clone.commit("one")
    assert again(clone).status == "fresh"
    source.commit("newer", branch=BASE)
    found = again(clone)
    assert (found.status, found.exit_code, found.commits) == ("moved", 12, None)
    assert found.uncounted == "the clone is shallow"
    assert sentence(found) == (
        "release/1.0 is not known to be fresh: the commits that feature/a lacks could not be counted: "
        "the clone is shallow."
    )


def test_a_branch_that_is_not_here_cannot_be_held_against(work: Repo) -> None:
    found = again(work, branch="feature/none")
    assert (found.status, found.exit_code, found.commits) == ("moved", 12, None)
    assert found.uncounted == f"feature/none is no branch of {work.path}"


def test_a_fetch_that_fails_leaves_the_count_open(work: Repo, source: Repo) -> None:
    source.commit("newer", branch=BASE)
    # The place of the remote-tracking ref is taken, so that the fetch cannot write it.
    work.git("update-ref", "-d", f"refs/remotes/origin/{BASE}")
    work.git("update-ref", "refs/remotes/origin/release/1.0/x", "HEAD")
    found = again(work)
    assert (found.status, found.commits, found.tip) == ("moved", None, source.oid(BASE))
    assert found.uncounted is not None
    assert found.uncounted.startswith("the fetch failed: ")


def test_a_missing_object_leaves_the_count_open(work: Repo, source: Repo) -> None:
    source.commit("newer", branch=BASE)
    lost = work.oid("feature/a~1")
    (work.path / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    found = again(work)
    assert (found.status, found.commits, found.uncounted) == (
        "moved",
        None,
        "an object is missing, or git gave no answer",
    )


# --- gone ---


def test_gone_where_the_remote_answered_without_it(work: Repo, source: Repo) -> None:
    source.git("branch", "--quiet", "--delete", "--force", BASE)
    before = work.refs()
    found = again(work)
    assert (found.status, found.exit_code, found.tip, found.failure) == ("gone", 13, None, None)
    assert work.refs() == before
    assert sentence(found) == "release/1.0 is gone: origin answered and does not have it any more."


def test_gone_where_the_remote_is_empty_by_now(work: Repo, source: Repo) -> None:
    for name in source.refs():
        source.git("update-ref", "-d", name)
    assert again(work).status == "gone"


# --- no answer ---


def assert_no_answer(found: Rechecked, kind: str, host: str | None) -> None:
    assert (found.status, found.exit_code, found.tip) == ("no-answer", 11, None)
    assert found.failure is not None
    assert (found.failure.kind, found.failure.host) == (kind, host)
    assert sentence(found).startswith("release/1.0 may be stale: origin did not answer")


def test_a_remote_that_was_taken_away_gave_no_answer(work: Repo, source: Repo) -> None:
    shutil.move(source.path, source.path.with_name("away"))
    assert_no_answer(again(work), "not-found", None)


def test_a_refusing_host_gave_no_answer(work: Repo) -> None:
    with refusing_port() as port:
        work.git("config", "remote.origin.url", f"git://{HOST}:{port}/x")
        assert_no_answer(again(work), "refused", HOST)


def test_a_silent_host_gave_no_answer(work: Repo) -> None:
    with silent_listener() as port:
        work.git("config", "remote.origin.url", f"git://{HOST}:{port}/x")
        assert_no_answer(again(work, seconds=0.3), "timed-out", HOST)


def test_a_login_page_is_no_answer_and_no_absence(work: Repo) -> None:
    with http_answering(200, "") as site:
        work.git("config", "remote.origin.url", site.url("x.git"))
        assert_no_answer(again(work), "protocol", HOST)


def test_a_secret_in_the_url_stays_there(work: Repo) -> None:
    with http_answering(404) as site:
        work.git("config", "remote.origin.url", site.url("x.git", userinfo="x-access-token:ghp_secret"))
        found = again(work)
        assert found.status == "no-answer"
        assert "ghp_secret" not in msgspec.json.encode(found).decode() + sentence(found)


def test_without_a_remote_nobody_could_be_asked(workshop: Workshop) -> None:
    alone = workshop.init("alone")
    found = again(alone, branch="main")
    assert (found.status, found.exit_code, found.remote) == ("no-answer", 11, None)
    assert sentence(found) == (
        "release/1.0 may be stale: nobody could be asked: no-remote: this repository has no remote."
    )


def test_the_remote_is_asked_once_and_only_for_refs(work: Repo, source: Repo) -> None:
    source.commit("newer", branch=BASE)
    with http_backend(source.path.parent) as site:
        work.git("config", "remote.origin.url", site.url("source/.git"))
        work.git("config", "protocol.version", "0")
        assert again(work).commits == 1
        asked = [request for request in site.requests if request.startswith("GET")]
        assert len(asked) == 2  # the question, and the fetch of what it told
        assert [request for request in site.requests if request.startswith("POST")] != []
        site.requests.clear()
        assert again(work).commits == 1
        assert site.requests == asked[:1]


# --- where the work stands, and whom to ask ---


def test_the_worktree_of_the_state_is_looked_at(work: Repo, tmp_path: Path, workshop: Workshop) -> None:
    work.git("worktree", "add", "--quiet", "-b", "feature/b", "../tree", "origin/main")
    elsewhere = workshop.init("elsewhere")
    found = recheck(
        elsewhere.port(), state(worktreePath="../tree", branch="feature/b"), Deadline(30), NOW
    )  # relative to git's folder
    assert (found.status, found.commits) == ("moved", 1)
    assert recheck(elsewhere.port(), state(work), Deadline(30), NOW).status == "fresh"
    with pytest.raises(SetupError, match="does not exist"):
        recheck(work.port(), state(worktreePath=str(tmp_path / "none")), Deadline(30), NOW)
    with pytest.raises(SetupError):
        recheck(work.port(), state(worktreePath=str(tmp_path)), Deadline(30), NOW)


def test_the_remote_that_the_evidence_names_is_asked(work: Repo, workshop: Workshop, source: Repo) -> None:
    other = workshop.clone(source, "other", "--bare")
    newer = source.commit("newer", branch=BASE)
    for name in ("one", "two"):
        work.git("remote", "add", name, str(other.path))
    work.git("remote", "rename", "origin", "lines")
    with pytest.raises(RemoteUndecided):
        again(work)

    def evidence(*refs: str) -> State:
        return {"candidates": [{"branch": "main", "refs": ["refs/remotes/one/main"]}, {"branch": BASE, "refs": refs}]}

    def asked(*refs: str) -> Rechecked:
        return again(work, baseBranchEvidence=json.loads(json.dumps(evidence(*refs))))

    assert (asked(f"refs/remotes/lines/{BASE}").remote, asked(f"refs/remotes/lines/{BASE}").tip) == ("lines", newer)
    assert asked(f"refs/remotes/two/{BASE}", f"refs/heads/{BASE}").status == "fresh"
    with pytest.raises(RemoteUndecided):
        asked(f"refs/remotes/unknown/{BASE}")
    with pytest.raises(RemoteUndecided):
        asked(f"refs/remotes/one/{BASE}", f"refs/remotes/two/{BASE}")
    work.git("config", "remote.-x.url", str(other.path))
    with pytest.raises(RemoteUndecided):
        asked(f"refs/remotes/-x/{BASE}")
    assert again(work, remote="one").remote == "one"
    with pytest.raises(SetupError, match="no remote named"):
        again(work, remote="none")


@pytest.mark.parametrize(
    "evidence",
    [None, 7, [], {}, {"candidates": None}, {"candidates": [1, {"branch": BASE}, {"branch": BASE, "refs": 5}]}],
)
def test_evidence_of_another_form_tells_nothing(work: Repo, evidence: object) -> None:
    assert again(work, baseBranchEvidence=evidence).status == "fresh"


# --- what a state has to say ---


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"baseBranch": None}, "baseBranch: the state does not name it"),
        ({"baseBranch": 7}, "baseBranch: the state has no text there"),
        ({"baseBranch": "--upload-pack=x"}, "baseBranch: '--upload-pack=x' can be no branch: it begins with a dash"),
        ({"baseBranch": "a:b"}, "baseBranch: 'a:b' can be no branch: git does not allow"),
        ({"branch": None}, "branch: the state does not name it"),
        ({"branch": "-x"}, "branch: '-x' can be no branch"),
        ({"branch": "x\x1b[31m"}, r"branch: 'x\\\\x1b"),
        ({"worktreePath": 1}, "worktreePath: the state has no path there"),
        ({"worktreePath": ""}, "worktreePath: the state has no path there"),
        ({"worktreePath": "a\0b"}, "worktreePath: the state has no path there"),
    ],
)
def test_a_state_that_cannot_be_rechecked(work: Repo, more: State, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        again(work, **more)


# --- what becomes of the state ---


def rechecked(status: str, base: str = BASE) -> Rechecked:
    return msgspec.convert(
        {"status": status, "baseBranch": base, "branch": "b", "remote": "origin", "at": NOW}, Rechecked
    )


@pytest.mark.parametrize("status", ["moved", "gone", "no-answer"])
def test_only_fresh_changes_the_state(status: str) -> None:
    assert recheck_changes(state(), rechecked(status)) == {}


def test_fresh_is_set_and_the_first_project_follows() -> None:
    assert recheck_changes(state(), rechecked("fresh")) == {"baseFetchStatus": "fresh"}
    projects = [{"root": "a", "baseBranch": BASE, "n": 1}, {"root": "b", "baseBranch": BASE}]
    assert recheck_changes(state(projects=projects), rechecked("fresh")) == {
        "baseFetchStatus": "fresh",
        "projects": [{"root": "a", "baseBranch": BASE, "n": 1, "baseFetchStatus": "fresh"}, projects[1]],
    }
    stranges: tuple[object, ...] = ([], [7], {}, [{"root": "a", "baseBranch": "main"}])
    for strange in stranges:
        assert recheck_changes(state(projects=strange), rechecked("fresh")) == {"baseFetchStatus": "fresh"}


def test_a_state_that_records_another_base_by_now_is_left_alone() -> None:
    assert recheck_changes(state(baseBranch="main"), rechecked("fresh")) == {}
    assert recheck_changes(state(baseBranch=f"refs/heads/{BASE}"), rechecked("fresh")) == {"baseFetchStatus": "fresh"}


def test_fresh_is_written_into_the_file_and_nothing_else(work: Repo, source: Repo, tmp_path: Path) -> None:
    file = tmp_path / "agent-state.json"
    before = json.dumps(state(work, number=1.0)).encode().replace(b"1.0}", b"1.00}")
    file.write_bytes(before)

    def written() -> Outcome:
        found = recheck(work.port(), state(work), Deadline(30), NOW)
        return write_state(file, lambda now: recheck_changes(now, found), now=NOW, create=False)

    assert written().after == before.replace(b"cached-stale", b"fresh")
    source.commit("newer", branch=BASE)
    assert written().after is None


def test_the_record_on_the_wire(work: Repo) -> None:
    found = again(work)
    wire = json.loads(msgspec.json.encode(found))
    assert wire == {
        "schema": "base-branch/recheck@1",
        "status": "fresh",
        "baseBranch": BASE,
        "branch": "feature/a",
        "remote": "origin",
        "tip": found.tip,
        "mergeBase": None,
        "commits": None,
        "uncounted": None,
        "failure": None,
        "at": "2026-11-30T09:00:00Z",
        "root": None,
        "projects": [],
    }
