"""A clone of a GitHub repository, a Jira and a GitHub on loopback, and the program between them."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.support import github_server, jira_server
from tests.support.program import Answer, Done, base_branch

if TYPE_CHECKING:
    from tests.support.github_server import Hub
    from tests.support.jira_server import Jira
    from tests.support.repositories import Stand

URL: Final = "git@github.com:acme/app.git"

_PAIR: Final = base64.b64encode(f"{jira_server.EMAIL}:{jira_server.TOKEN}".encode()).decode()
SECRETS: Final = (jira_server.TOKEN, github_server.TOKEN, _PAIR)

# Stands for ssh: the last argument is what it would run on the server, at whose root the repositories lie.
_SSH: Final = '#!/bin/sh\nfor last; do :; done\ncd "${0%/*}" && exec sh -c "$last"\n'


@dataclass(frozen=True, kw_only=True)
class World:
    """One clone, whose remote's URL is GitHub's, and the environment of a user who has set up what is given."""

    stand: Stand
    environ: dict[str, str] = field(default_factory=dict)

    def with_jira(self, jira: Jira) -> World:
        """The user has set up this Jira."""
        own = {"JIRA_URL": jira.url, "JIRA_TOKEN": jira_server.TOKEN}
        if jira.product == "cloud":
            own["JIRA_EMAIL"] = jira_server.EMAIL
        return self.having(own)

    def with_github(self, hub: Hub, *, token: bool = True) -> World:
        """The user's github.com is this server, as far as its API goes."""
        own = {"BASE_BRANCH_GITHUB_API_URL": f"{hub.base}/api/v3"}
        return self.having(own | ({"GH_TOKEN": github_server.TOKEN} if token else {}))

    def having(self, more: dict[str, str]) -> World:
        """The same with more in its environment."""
        return World(stand=self.stand, environ=self.environ | more)

    def run(self, command: str, *arguments: str | Path, code: int = 0) -> Done:
        """Run a command on the clone. No secret may show, whatever comes of it, tracebacks included."""
        done = base_branch(
            command, self.stand.clone.path, *arguments, environ=self.environ | {"BASE_BRANCH_DEBUG": "1"}
        )
        assert done.code == code, (done.code, done.err, done.out)
        for secret in SECRETS:
            assert secret not in done.out.decode() + done.err
        return done

    def resolve(self, issue: str, *arguments: str | Path, code: int = 0) -> Answer:
        """The decision of an unattended run."""
        return self.run("resolve", "--autopilot", "--issue", issue, *arguments, code=code).json()

    def collect(self, issue: str, *arguments: str) -> Answer:
        """The bundle."""
        return self.run("collect", "--issue", issue, *arguments).json()


def world_of(stand: Stand, folder: Path) -> World:
    """The clone looks for its remote at GitHub by ssh, which leads to the folder beside it."""
    script = folder / "ssh"
    script.write_text(_SSH, encoding="utf-8")
    script.chmod(0o755)
    stand.serve_as(URL)
    preferences = folder / "preferences.json"
    return World(
        stand=stand,
        environ={
            "GIT_SSH_COMMAND": str(script),
            "BASE_BRANCH_PREFERENCES": str(preferences),
            # Never the real one: nobody listens there.
            "BASE_BRANCH_GITHUB_API_URL": "http://127.0.0.1:9/api/v3",
            # No gh, whatever this machine has: the test's own tokens alone.
            "PATH": f"{_without_gh(folder)}{os.pathsep}{os.environ['PATH']}",
        },
    )


def _without_gh(folder: Path) -> Path:
    """A folder with a gh that is logged in nowhere."""
    path = folder / "bin"
    path.mkdir()
    (path / "gh").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    (path / "gh").chmod(0o755)
    return path


def prefer(world: World, **switches: object) -> None:
    """What the user's own preferences say."""
    Path(world.environ["BASE_BRANCH_PREFERENCES"]).write_text(json.dumps({"global": switches}), encoding="utf-8")
