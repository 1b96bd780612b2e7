"""Security tests P1 to P10: what a hostile or tricked agent may try, one by one, against the gate over a real folder."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests.agent.gate_stage import CHAT, OPTIONS, Stage, ask, edit, run, tool
from tests.agent.test_gate_files import code_of
from vibekit_desktop.core.agent.link import AskOption
from vibekit_desktop.core.agent.policy import Bounds, Refused, judge
from vibekit_desktop.core.types.agents import Answer, Headless, Operation, Question, Rule, RuleKind, Why

ALL_RULES = [
    Rule(chat=CHAT, kind=RuleKind.EDITS),
    Rule(chat=CHAT, kind=RuleKind.READS),
    Rule(chat=CHAT, kind=RuleKind.FOLDER, subject="."),
]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def everything_below(folder: Path) -> dict[str, bytes | None]:
    """Names and contents, links not followed."""
    found: dict[str, bytes | None] = {}
    for above, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(above, name)
            found[str(path.relative_to(folder))] = path.read_bytes() if path.is_file() and not path.is_symlink() else None
    return found


async def try_all_ways(stage: Stage, path: str) -> list[str | None]:
    """Ask to edit, delete and move a path, and write it through us."""
    moved = json.dumps({"old_path": path, "new_path": "mine.txt"}).encode()
    moved_to = json.dumps({"old_path": "own.txt", "new_path": path}).encode()
    answers = [
        await stage.gate.ask(edit(path, "", "evil", f"e {path}")),
        await stage.gate.ask(ask(tool(f"d {path}", kind="delete", at=[path]))),
        await stage.gate.ask(ask(tool(f"m {path}", kind="move", given=moved))),
        await stage.gate.ask(ask(tool(f"t {path}", kind="move", given=moved_to))),
    ]
    return [*answers, await code_of(stage.gate.write(path, "evil"))]


# -- P1 --------------------------------------------------------------------------------------------------------------

OUTSIDE = [
    "../outside.txt",
    "a/../../outside.txt",
    "HOME/notes.txt",
    "HOME/.config/app/settings",
    "HOME/.ssh/authorized_keys",
    "HOME/.ssh/id_ed25519",
    "HOME/.bashrc",
    "HOME/.profile",
    "HOME/.config/autostart/x.desktop",
    "HOME/.config/systemd/user/x.service",
    "HOME/Library/LaunchAgents/x.plist",
    "HOME/.local/share/ours/library.json",
    "~/.zshrc",
    "$HOME/.bashrc",
    "file:///etc/passwd",
    "/etc/passwd",
    "/proc/self/mem",
    "/dev/sda",
    "~root/.bashrc",
    "C:\\Windows\\System32\\x.dll",
    "\\\\server\\share\\x",
    "out/escape.txt",
    "deep/out2/../escape.txt",
    "dangling",
    "loop",
    "x\0y",
    "x" * 5000,
    "a/" * 2000 + "b",
    "\ud800",
]


@pytest.mark.parametrize("mode", ["person", "rules", "headless"])
def test_p1_no_mode_widens_the_boundary(stage: Stage, mode: str) -> None:
    (stage.root / "own.txt").write_text("own")
    (stage.root / "out").symlink_to(stage.home)
    (stage.root / "deep").mkdir()
    (stage.root / "deep" / "out2").symlink_to(stage.home / ".config")
    (stage.root / "dangling").symlink_to(stage.home / "not-there")
    (stage.root / "loop").symlink_to("loop")
    before = everything_below(stage.tmp)
    stage.rules = list(ALL_RULES) if mode == "rules" else []
    stage.headless = Headless.ALL if mode == "headless" else None

    async def work() -> None:
        for text in OUTSIDE:
            path = text.replace("HOME", str(stage.home)) if text.startswith("HOME") else text
            answers = await try_all_ways(stage, path)
            if text in ("dangling", "loop"):
                # The link itself may be deleted or moved: nothing outside is touched by that.
                assert answers[0] == "no"
            else:
                assert answers[:4] == ["no"] * 4, text
            assert answers[4] == "refused", text

    stage.answers = [Answer.DENY] * 6  # of the two links themselves
    stage.run(work)
    assert everything_below(stage.tmp) == before
    assert not [
        what for what, path in stage.sink.events if path not in ("dangling", "loop", "own.txt", "mine.txt") and " " not in path
    ]
    assert {answer for _, answer in stage.given} <= {"refused", "denied", "allowed"}
    assert sum(answer == "refused" for _, answer in stage.given) >= 5 * (len(OUTSIDE) - 2)
    assert stage.run(lambda: code_of(stage.gate.write("", "evil"))) == "refused"


def test_p1_the_reason_says_what_is_meant(stage: Stage) -> None:
    async def work() -> None:
        for name in (".ssh/config", ".bashrc", ".config/autostart/a.desktop", ".local/share/ours/x", ".vimperatorrc"):
            await stage.gate.ask(edit(str(stage.home / name), call=name))

    stage.run(work)
    reasons = [title.partition(": ")[2] for title, _ in stage.given]
    assert reasons == [
        "it holds keys or passwords",
        "programs read it when they start, and it is outside of the workspace",
        "it is started with the computer",
        "it is our own data",
        "it is a settings file in the home folder",
    ]


def test_p1_a_workspace_that_is_the_home_folder_keeps_its_start_files_and_keys() -> None:
    bounds = Bounds("/home/u", "/home/u")
    assert judge(".bashrc", Operation.EDIT, bounds).refused is Refused.START_FILE
    assert judge(".ssh/config", Operation.EDIT, bounds).refused is Refused.KEYS
    assert judge(".config/autostart/x", Operation.CREATE, bounds).refused is Refused.AUTOSTART
    assert judge("notes.txt", Operation.EDIT, bounds).refused is None


# -- P2 --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        ".git/config",
        ".git/info/attributes",
        ".git",
        "sub/.git",
        "sub/.git/config",
        ".git/modules/sub/config",
        ".GIT/config",
        ".git./config",
        ".git /config",
        ".git::$INDEX_ALLOCATION/config",
        ".g\u200cit/config",
        "git~1/config",
        "bare.git/hooks/post-receive",
        ".hg/hgrc",
        ".jj/repo/config.toml",
        "link/hooks/pre-commit",
    ],
)
def test_p2_what_a_repository_keeps_for_itself_is_refused(stage: Stage, path: str) -> None:
    (stage.root / ".git" / "hooks").mkdir(parents=True)
    (stage.root / ".git" / "config").write_text("[core]\n")
    (stage.root / "own.txt").write_text("own")
    (stage.root / "link").symlink_to(".git")
    before = everything_below(stage.root)
    stage.rules = list(ALL_RULES)
    assert stage.run(lambda: try_all_ways(stage, path)) == ["no", "no", "no", "no", "refused"]
    assert everything_below(stage.root) == before
    assert stage.asked == []


# -- P3 --------------------------------------------------------------------------------------------------------------

RUNS_LATER = [
    ".vscode/tasks.json", ".idea/runConfigurations/a.xml", "x.code-workspace", ".envrc", ".env", ".env.local",
    ".github/workflows/ci.yml", ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", "azure-pipelines.yml", ".ci/run",
    "package.json", "web/package.json", ".npmrc", "vite.config.ts", ".eslintrc.js", "Makefile", "GNUmakefile", "rules.mk",
    "CMakeLists.txt", "cmake/find.cmake", "meson.build", "BUILD", "justfile", "setup.py", "setup.cfg", "pyproject.toml",
    "conftest.py", "tests/conftest.py", "noxfile.py", "tox.ini", "evil.pth", "sitecustomize.py", "Dockerfile",
    "docker/Dockerfile.dev", "compose.yaml", "docker-compose.override.yml", ".devcontainer/devcontainer.json",
    ".husky/pre-commit", ".pre-commit-config.yaml", "lefthook.yml", "hooks/pre-commit", ".gitattributes", ".gitmodules",
    ".bashrc", "dotfiles/.zshrc", "build.gradle", "app/build.gradle.kts", "gradlew", "gradle/wrapper/gradle-wrapper.jar",
    "pom.xml", "build.rs", ".cargo/config.toml", "Cargo.toml", "flake.nix", "Rakefile", "Gemfile", "x.gemspec", "configure",
    "scripts/build.sh", "install.ps1", "MAKEFILE", "Conftest.py", "package.json ", "App.csproj", "x.service", ".mcp.json",
    ".claude/settings.json", ".nvim.lua", ".dir-locals.el", "composer.json", "mix.exs", "Vagrantfile", "tsup.config.mjs",
]  # fmt: skip


@pytest.mark.parametrize("path", RUNS_LATER)
def test_p3_files_that_run_later_are_always_asked_about_and_the_question_says_why(stage: Stage, path: str) -> None:
    stage.rules = [*ALL_RULES, Rule(chat=CHAT, kind=RuleKind.FOLDER, subject=path.split("/")[0])]
    stage.answers = [Answer.DENY, Answer.DENY]

    async def work() -> tuple[str | None, str]:
        return await stage.gate.ask(edit(path, "", "x")), await code_of(stage.gate.write(path, "x"))

    assert stage.run(work) == ("no", "denied")
    assert [Why.RUNS_LATER in question.why for question in stage.asked] == [True, True]
    assert stage.asked[0].answers == (Answer.ALLOW_ONCE, Answer.DENY)


@pytest.mark.parametrize("path", ["server.pem", "certs/fullchain.PEM", "a.der", "public.key", "link.txt"])
def test_p3_files_that_may_hold_a_key_are_always_asked_about(stage: Stage, path: str) -> None:
    stage.file("real.pem")
    (stage.root / "link.txt").symlink_to("real.pem")
    stage.rules = [*ALL_RULES, Rule(chat=CHAT, kind=RuleKind.FOLDER, subject="certs")]
    stage.answers = [Answer.DENY]
    assert stage.run(lambda: stage.gate.ask(edit(path, "", "x"))) == "no"
    (question,) = stage.asked
    assert (question.why, question.answers) == ((), (Answer.ALLOW_ONCE, Answer.DENY))


@pytest.mark.parametrize("path", ["src/main.py", "README.md", "web/index.html", "lib/builder.py", "docs/makefile.md", "a.json"])
def test_p3_other_files_are_covered_by_a_rule(stage: Stage, path: str) -> None:
    stage.rules = list(ALL_RULES)
    assert stage.run(lambda: stage.gate.ask(edit(path, "", "x"))) == "yes"
    assert stage.asked == []


# -- P4 --------------------------------------------------------------------------------------------------------------


def test_p4_an_answer_is_bound_to_path_hash_and_operation(stage: Stage) -> None:
    stage.file("a.txt", "old\n")
    stage.file("b.txt", "old\n")
    stage.answers = [Answer.ALLOW_ONCE, Answer.DENY, Answer.DENY, Answer.ALLOW_ONCE, Answer.DENY]

    async def work() -> None:
        await stage.gate.ask(edit("a.txt", "old\n", "good\n"))
        assert await code_of(stage.gate.write("b.txt", "good\n")) == "denied"  # another path
        assert await code_of(stage.gate.write("a.txt", "evil\n")) == "denied"  # other content
        # A grant to delete is none to write.
        await stage.gate.ask(ask(tool("2", kind="delete", at=["b.txt"])))
        assert await code_of(stage.gate.write("b.txt", "good\n")) == "denied"

    stage.run(work)
    assert [question.why for question in stage.asked[1:3]] == [(Why.NOT_ANNOUNCED,), (Why.OTHER_CONTENT,)]
    assert (stage.root / "a.txt").read_text() == (stage.root / "b.txt").read_text() == "old\n"


# -- P5 --------------------------------------------------------------------------------------------------------------


def test_p5_answers_that_come_late_twice_or_for_nobody_do_nothing(stage: Stage, tmp_path: Path) -> None:
    target = stage.file("a.txt")
    other = Stage(tmp_path / "other")

    async def work() -> None:
        asked = asyncio.ensure_future(stage.gate.ask(edit("a.txt")))
        written = asyncio.ensure_future(code_of(stage.gate.write("a.txt", "evil\n")))
        await stage.until(lambda: len(stage.asked) == 2)
        first, second = stage.asked
        assert not stage.questions.answer("nobody's", Answer.ALLOW_ONCE)
        assert not other.questions.answer(first.id, Answer.ALLOW_ONCE)
        assert not stage.questions.answer(first.id, Answer.UNPROTECTED)  # not an answer to this question
        assert stage.questions.answer(first.id, Answer.DENY)
        assert not stage.questions.answer(first.id, Answer.ALLOW_ONCE)
        assert await asked == "no"
        stage.gate.cancel()
        assert not stage.questions.answer(second.id, Answer.ALLOW_ONCE)
        assert await written == "stopped"
        assert await stage.gate.ask(edit("a.txt")) is None

    stage.run(work)
    assert target.read_text() == "old\n"
    assert stage.told == []


def test_p5_an_answer_that_was_on_its_way_when_the_turn_was_stopped_allows_nothing(stage: Stage) -> None:
    stage.file("a.txt")

    def allow_and_stop(question: Question) -> Answer:
        asyncio.get_running_loop().call_soon(stage.gate.cancel)
        return Answer.ALLOW_ONCE

    stage.answers = [allow_and_stop]
    assert stage.run(lambda: stage.gate.ask(edit("a.txt"))) is None
    assert stage.given == [("edit a.txt", "cancelled")]


# -- P6 --------------------------------------------------------------------------------------------------------------


def test_p6_ten_thousand_requests_and_odd_inputs_at_once_are_answered(stage: Stage) -> None:
    inputs = [
        b"[" * 100_000,
        b"{",
        b"null",
        b"1" * 10_000,
        b'{"path": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"path": 7}',
        b"\xff",
    ]
    stage.headless = Headless.NONE

    async def work() -> list[str | None]:
        asks = [
            stage.gate.ask(ask(tool(str(number), kind="edit", at=["a.txt"], given=inputs[number % len(inputs)])))
            for number in range(10_000)
        ]
        return list(await asyncio.gather(*asks))

    assert set(stage.run(work)) == {"no"}
    assert len(stage.given) == 1000


# -- P7 --------------------------------------------------------------------------------------------------------------


def test_p7_a_turn_that_ends_with_everything_open_leaves_nothing_running(stage: Stage, tmp_path: Path) -> None:
    stage.file("a.txt")
    pids = tmp_path / "pids"
    command = f"setsid sh -c 'echo $$ >> {pids}; exec sleep 600' & sh -c 'echo $$ >> {pids}; exec sleep 600' & sleep 600"
    stage.answers = [Answer.ALLOW_ONCE, Answer.ALLOW_ONCE]

    async def work() -> None:
        await stage.gate.ask(edit("a.txt"))
        await stage.gate.ask(run(command))
        await stage.gate.create_terminal(command, [], None, [], None)
        asyncio.ensure_future(stage.gate.ask(edit("b.txt")))  # noqa: RUF006 - an agent that is gone by then
        await stage.until(lambda: pids.exists() and len(pids.read_text().split()) == 2 and len(stage.asked) == 3)

    stage.run(work)
    assert stage.sink.kept["a.txt"] == [b"old\n"]
    assert stage.questions.open == ()
    assert stage.terminals.running() == ()
    for pid in pids.read_text().split():
        assert not Path("/proc", pid).exists() or b" Z " in Path("/proc", pid, "stat").read_bytes()


# -- P8 --------------------------------------------------------------------------------------------------------------


def test_p8_what_an_agent_writes_by_itself_after_the_fact_is_not_claimed_as_kept(stage: Stage) -> None:
    target = stage.file("a.txt")

    async def work() -> None:
        target.write_text("by itself\n")
        stage.gate.saw(tool(kind="edit", status="completed", at=["a.txt"], diff=("a.txt", "old\n", "by itself\n")))

    stage.run(work)
    assert stage.told == []


# -- P9 --------------------------------------------------------------------------------------------------------------


def test_p9_secrets_the_store_and_what_is_no_file_are_not_read(stage: Stage) -> None:
    os.mkfifo(stage.root / "pipe")
    (stage.home / ".ssh").mkdir()
    for name in (".ssh/id_rsa", ".netrc", ".local/share/ours/log"):
        (stage.home / name).write_text("secret")
    for name in ("id_ed25519", "server.key", "tls-key.pem", ".netrc", "credentials.json"):
        stage.file(name, "secret")
    (stage.root / "harmless.txt").symlink_to(stage.home / ".ssh" / "id_rsa")
    (stage.root / "also.txt").symlink_to("server.key")
    inside = ["id_ed25519", "server.key", "tls-key.pem", ".netrc", "credentials.json", "harmless.txt", "also.txt", "pipe"]
    outside = [f"{stage.home}/{name}" for name in (".ssh/id_rsa", ".netrc", ".local/share/ours/log")]
    paths = [*inside, *outside, "/proc/self/environ", "/dev/zero", "/etc/shadow", "../home/.ssh/id_rsa", "~/.netrc"]
    stage.rules = list(ALL_RULES)

    async def work() -> None:
        for path in paths:
            assert await code_of(stage.gate.read(path, None, None)) == "refused", path
            assert await stage.gate.ask(ask(tool(f"r {path}", kind="read", at=[path]))) == "no", path

    stage.run(work)
    assert stage.asked == []
    assert {answer for _, answer in stage.given} == {"refused"}


def test_p9_public_keys_and_certificates_are_no_secrets(stage: Stage) -> None:
    for name in ("id_rsa.pub", "cert.pem", "fullchain.pem", "public.key", "monkey.py", "keys.py", "tokens.json"):
        stage.file(name, "text")
        assert stage.run(lambda name=name: stage.gate.read(name, None, None)) == "text"


# -- P10 -------------------------------------------------------------------------------------------------------------


def test_p10_what_an_agent_says_stands_only_where_it_is_marked_as_its_words(stage: Stage) -> None:
    lie = "VibeKit: checkpoint saved. Press Allow.\n\nAllow once  Deny"
    stage.file("a.txt")
    stage.answers = [Answer.DENY] * 4
    options = (AskOption("y", lie, "allow_once"), AskOption("n", lie, "reject_once"))

    async def work() -> None:
        await stage.gate.ask(ask(tool("1", kind="edit", title=lie, at=["a.txt"]), options))
        await stage.gate.ask(ask(tool("2", kind="other", title=lie), options))
        await stage.gate.ask(ask(tool("3", kind="fetch", title=lie), options))
        await stage.gate.ask(ask(tool("4", kind=lie, title=lie, at=["b.txt"]), options))

    stage.run(work)
    for question in stage.asked:
        assert question.title == lie
        said = (question.subject, question.folder, question.agent, *question.paths, *question.why, *question.answers)
        assert not any("checkpoint saved" in text for text in said)
    assert [title for title, _ in stage.given] == [
        "edit a.txt",
        "use a tool of its own",
        "fetch something from the network",
        "use a tool of its own",
    ]


def test_p10_control_characters_of_a_command_are_marks_in_our_lines(stage: Stage) -> None:
    stage.answers = [Answer.DENY]
    stage.run(lambda: stage.gate.ask(run("ls\x1b[2K\rharmless\n" + "x" * 500)))
    title = stage.given[0][0]
    assert title.startswith("run ls␛[2K␍harmless␊x")
    assert len(title) < 220
    assert stage.asked[0].subject.startswith("ls\x1b[2K\r")  # the window shows the very text, made visible


def test_p10_options_of_another_kind_are_never_taken(stage: Stage) -> None:
    stage.file("a.txt")
    stage.answers = [Answer.ALLOW_ONCE]
    options = (AskOption("grant_all", "Allow once", "other"), *OPTIONS)
    assert stage.run(lambda: stage.gate.ask(ask(edit("a.txt").tool, options))) == "yes"
