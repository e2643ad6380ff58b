"""Repositories built from the recipes, once a run; each test gets copies of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from candidates.setup.recipes import ObjectFormat, build, load_recipe
from tests.conftest import Repo


@dataclass(frozen=True, slots=True)
class Stand:
    """A remote and its clone, both real, of one test alone."""

    remote: Repo
    clone: Repo

    def take_the_remote_away(self) -> None:
        """The remote is no longer where the clone looks for it."""
        self.remote.path.rename(self.remote.path.with_name("taken-away"))

    def serve_as(self, url: str) -> None:
        """Let the clone look for its remote at another address."""
        self.clone.git("config", "remote.origin.url", url)


MakeStand = Callable[[str], Stand]


@pytest.fixture(scope="session")
def _masters(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, ObjectFormat], Path]:
    made: dict[tuple[str, str], Path] = {}

    def master(recipe: str, object_format: ObjectFormat) -> Path:
        if (recipe, object_format) not in made:
            folder = tmp_path_factory.mktemp(recipe)
            build(load_recipe(recipe), folder, dict(os.environ), object_format=object_format)
            made[recipe, object_format] = folder
        return made[recipe, object_format]

    return master


@pytest.fixture
def stand(tmp_path: Path, _masters: Callable[[str, ObjectFormat], Path]) -> MakeStand:
    """Make a stand from a recipe: `acme/app.git`, and a clone of it beside; `recipe:sha256` for SHA-256."""

    def make(recipe: str) -> Stand:
        name, _, form = recipe.partition(":")
        master = _masters(name, "sha256" if form == "sha256" else "sha1")
        remote, clone = tmp_path / "acme" / "app.git", tmp_path / "clone"
        shutil.copytree(master / "remote.git", remote)
        shutil.copytree(master / "clone", clone)
        made = Stand(Repo(remote), Repo(clone))
        made.serve_as(str(remote))
        return made

    return make
