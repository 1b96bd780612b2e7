"""Git repositories in the workspace of a bench, made by the git program with nobody's settings and no identity but what a
commit needs."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


class Repository:
    """One folder that git is called in. ``home``: where git looks for a user's settings."""

    def __init__(self, folder: Path, home: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        home.mkdir(exist_ok=True)
        self.folder = folder
        self._home = home

    def git(self, *words: str) -> str:
        """Call git; what it said."""
        plain = ("-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", "-c", "core.fsmonitor=")
        env = {"PATH": os.environ["PATH"], "HOME": str(self._home), "GIT_CONFIG_NOSYSTEM": "1"}
        run = subprocess.run(["git", *plain, *words], cwd=self.folder, env=env, capture_output=True, check=False)
        assert run.returncode == 0, run.stderr
        return run.stdout.decode()

    def init(self) -> "Repository":
        self.git("init", "-q")
        return self

    def commit(self, *words: str) -> "Repository":
        """Commit everything that is there."""
        self.age()
        self.git("add", "-A")
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x", *words)
        return self

    def age(self) -> None:
        """Make every file old, so that git and we need not take it for one that may have changed within a moment."""
        for folder, below, files in os.walk(self.folder):
            below[:] = [name for name in below if name != ".git"]
            for name in files:
                os.utime(Path(folder, name), ns=(10**18, 10**18), follow_symlinks=False)
