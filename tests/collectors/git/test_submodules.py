"""Submodules as `.gitmodules` names them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from collectors.git.submodules import Submodule, read_submodules

if TYPE_CHECKING:
    from tests.support.repositories import Workshop


def test_a_work_tree_without_submodules(workshop: Workshop) -> None:
    repo = workshop.init("plain")
    assert read_submodules(repo.port(), repo.path) == ()


def test_submodules_with_their_branch_hints(workshop: Workshop) -> None:
    inner, outer = workshop.init("inner"), workshop.init("outer")
    inner.commit("one")
    outer.commit("one")
    outer.git("submodule", "add", "--quiet", "--branch", "main", str(inner.path), "libs/inner")
    (outer.path / ".gitmodules").write_text(
        (outer.path / ".gitmodules").read_text()
        + '[submodule "web"]\n\tpath = web\n\turl = https://ada:secret@host.example/acme/web.git\n\tbranch = .\n'
    )
    assert read_submodules(outer.port(), outer.path) == (
        Submodule(name="libs/inner", path="libs/inner", url=str(inner.path), branch="main", present=True),
        Submodule(name="web", path="web", url="https://***@host.example/acme/web.git", branch=".", present=False),
    )


@pytest.mark.parametrize("path", ["../up", "/etc", "--upload-pack=x", "a/../../b"])
def test_a_path_out_of_the_work_tree_is_left_out(workshop: Workshop, path: str) -> None:
    repo = workshop.init("odd")
    (repo.path / ".gitmodules").write_text(f'[submodule "x"]\n\tpath = {path}\n\turl = ../x\n')
    assert read_submodules(repo.port(), repo.path) == ()


def test_a_broken_file_names_none(workshop: Workshop, tmp_path: Path) -> None:
    del tmp_path
    repo = workshop.init("broken")
    (repo.path / ".gitmodules").write_text("[submodule\n")
    assert read_submodules(repo.port(), repo.path) == ()
