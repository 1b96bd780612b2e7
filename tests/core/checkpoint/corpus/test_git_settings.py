"""Git as it may be found: not installed, without an identity, with settings that would run programs or hide changes."""

from pathlib import Path

import pytest

from tests.core.checkpoint.corpus.bench import Bench, picture
from tests.core.checkpoint.corpus.repositories import Repository, needs_git

pytestmark = needs_git


@pytest.fixture
def bench(either: Bench) -> Bench:
    """Who is told to have done it makes no difference here."""
    return either


@pytest.fixture
def made(bench: Bench) -> Repository:
    bench.seed({"a.txt": b"0\n", "sub/b": b"0\n"})
    return Repository(bench.root, bench.root.parent / "home").init().commit()


def act(bench: Bench) -> None:
    bench.write("a.txt", b"1\n")
    bench.write("sub/c", b"2\n")


TOLD = {"a.txt": "M", "sub/c": "A"}


def test_no_git_program(bench: Bench, made: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(bench.root.parent / "nothing here"))
    bench.whole_way(act, TOLD)


def test_no_identity(bench: Bench, made: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NAME", "EMAIL"):
        for role in ("AUTHOR", "COMMITTER"):
            monkeypatch.delenv(f"GIT_{role}_{name}", raising=False)
    monkeypatch.setenv("HOME", str(bench.root.parent / "no home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    made.git("config", "user.useConfigOnly", "true")
    bench.whole_way(act, TOLD)


def _traps(bench: Bench, made: Repository) -> Path:
    """Every setting that makes git run a program runs one here that leaves a mark."""
    mark, trap = bench.root.parent / "it ran", bench.root.parent / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{mark}'\nexec cat\n")
    trap.chmod(0o755)
    hooks = bench.root.parent / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "post-index-change", "pre-commit", "fsmonitor-watchman", "reference-transaction"):
        (hooks / name).write_bytes(trap.read_bytes())
        (hooks / name).chmod(0o755)
        (bench.root / ".git/hooks" / name).write_bytes(trap.read_bytes())
        (bench.root / ".git/hooks" / name).chmod(0o755)
    included = bench.root.parent / "included"
    included.write_text(f"[core]\n\tpager = {trap}\n[alias]\n\tdiff = !{trap}\n")
    settings = {
        "core.fsmonitor": str(trap),
        "core.hooksPath": str(hooks),
        "include.path": str(included),
        "includeIf.gitdir:/.path": str(included),
        "filter.x.clean": str(trap),
        "filter.x.smudge": str(trap),
        "filter.x.process": str(trap),
        "filter.x.required": "true",
        "diff.x.textconv": str(trap),
        "diff.external": str(trap),
        "merge.x.driver": str(trap),
        "core.sshCommand": str(trap),
        "core.gitProxy": str(trap),
        "core.editor": str(trap),
        "core.askPass": str(trap),
        "credential.helper": f"!{trap}",
        "gpg.program": str(trap),
        "alias.status": f"!{trap}",
        "alias.cat-file": f"!{trap}",
        "uploadpack.packObjectsHook": str(trap),
    }
    for name, value in settings.items():
        made.git("config", name, value)
    return mark


def test_settings_that_would_run_a_program_run_none(bench: Bench, made: Repository) -> None:
    mark = _traps(bench, made)
    (bench.root / ".gitattributes").write_bytes(b"* filter=x diff=x merge=x\n")
    mark.unlink(missing_ok=True)
    before = picture(bench.root / ".git")
    bench.whole_way(act, TOLD)
    assert not mark.exists()
    assert picture(bench.root / ".git") == before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("core.ignoreStat", "true"),
        ("core.trustctime", "false"),
        ("core.checkStat", "minimal"),
        ("core.fileMode", "false"),
        ("core.symlinks", "false"),
        ("core.ignoreCase", "true"),
        ("core.precomposeUnicode", "true"),
        ("core.autocrlf", "true"),
        ("core.safecrlf", "true"),
        ("core.quotePath", "true"),
        ("core.bare", "true"),
        ("core.worktree", "/"),
        ("core.excludesFile", "/dev/stdin"),
        ("core.attributesFile", "/dev/stdin"),
        ("core.sparseCheckout", "true"),
        ("core.untrackedCache", "true"),
        ("core.repositoryFormatVersion", "9"),
        ("extensions.objectFormat", "sha256"),
        ("safe.directory", "/nowhere"),
        ("index.version", "9"),
    ],
)
def test_settings_that_would_hide_or_convert_a_change_do_not(shell: Bench, name: str, value: str) -> None:
    shell.seed({"a.txt": b"0\n", "sub/b": b"0\n", "run": b"#!\n"})
    made = Repository(shell.root, shell.root.parent / "home").init().commit()
    made.git("config", name, value)

    def more(bench: Bench) -> None:
        act(bench)
        (bench.root / "run").chmod(0o755)

    shell.whole_way(more, TOLD | {"run": "M"})


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree", "--intent-to-add"])
def test_files_that_git_was_told_not_to_look_at_are_looked_at(bench: Bench, made: Repository, bit: str) -> None:
    if bit == "--intent-to-add":
        bench.seed({"sub/b.new": b"0\n"})
        made.git("add", bit, "sub/b.new")
    else:
        made.git("update-index", bit, "a.txt", "sub/b")
    with bench.turn():
        bench.write("a.txt", b"1\n")
        bench.write("sub/b", None)
    bench.tells({"a.txt": "M", "sub/b": "D"})
    bench.goes_back_and_forth()


def test_what_git_has_of_a_file_is_used_only_if_it_is_what_was_there(bench: Bench, made: Repository) -> None:
    """A filter was switched off after the commit: git holds another content than the folder."""
    (bench.root / ".gitattributes").write_bytes(b"*.txt text eol=crlf\n")
    bench.seed({"a.txt": b"0\r\n"})
    made.commit()
    assert made.git("show", "HEAD:a.txt") == "0\n"
    (bench.root / ".gitattributes").unlink()
    bench.whole_way(act, TOLD)
