"""What an agent may touch, by the text alone; and what a rule allows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibekit_desktop.core.agent import rules
from vibekit_desktop.core.agent.policy import Bounds, Refused, Verdict, judge
from vibekit_desktop.core.agent.rules import Wanted
from vibekit_desktop.core.types.agents import Answer, Hold, Operation, Rule, RuleKind, Why
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

HERE = Bounds("/home/u/work", "/home/u", ("/home/u/.local/share/ours",))
WINDOWS = Bounds("C:\\Users\\u\\work", "C:\\Users\\u", ("C:\\Users\\u\\AppData\\Local\\ours",))
CHAT = ChatId("a")
OTHER = ChatId("b")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("src/a.py", "src/a.py"),
        ("./src//a.py", "src/a.py"),
        ("/home/u/work/a", "a"),
        ("/home/u/work/../work/a", "a"),
        ("b/../a", "a"),
        ("~/work/a", "a"),
        ("$HOME/work/a", "a"),
        ("${HOME}/work/a", "a"),
        ("file:///home/u/work/a%20b", "a b"),
        ("//home/u/work/a", "a"),
        ("back\\slash", "back\\slash"),
        ("é\n\u202e", "é\n\u202e"),
    ],
)
def test_paths_inside_are_found_however_they_are_written(text: str, path: str) -> None:
    for operation in (Operation.EDIT, Operation.READ):
        found = judge(text, operation, HERE)
        assert (found.verdict, found.path) == (Verdict.FREE, path)


@pytest.mark.parametrize(
    ("text", "write", "read"),
    [
        ("/home/u/other/a", Refused.OUTSIDE, None),
        ("/home/u/work2/a", Refused.OUTSIDE, None),
        ("..", Refused.OUTSIDE, None),
        ("/home/u/.config/x", Refused.HOME_FILE, None),
        ("/home/u/.bashrc", Refused.START_FILE, None),
        ("/home/u/.config/fish/config.fish", Refused.START_FILE, None),
        ("/home/u/.config/autostart/x.desktop", Refused.AUTOSTART, None),
        ("/home/u/.ssh/config", Refused.KEYS, None),
        ("/home/u/.ssh/id_rsa", Refused.KEYS, Refused.KEYS),
        ("/home/u/.aws/credentials", Refused.KEYS, Refused.KEYS),
        ("/home/u/.config/gcloud/x.db", Refused.KEYS, Refused.KEYS),
        ("/home/u/.bash_history", Refused.KEYS, Refused.KEYS),
        ("/home/u/.local/share/ours/a", Refused.OWN_DATA, Refused.OWN_DATA),
        ("/home/u/.local/share/OURS", Refused.OWN_DATA, Refused.OWN_DATA),
        ("/etc/passwd", Refused.SYSTEM, None),
        ("/etc/shadow", Refused.KEYS, Refused.KEYS),
        ("/dev/null", Refused.DEVICE, Refused.DEVICE),
        ("/proc/1/mem", Refused.DEVICE, Refused.DEVICE),
        ("/sys/power/state", Refused.DEVICE, Refused.DEVICE),
        ("/", Refused.OUTSIDE, None),
        ("file://server/share/a", Refused.NO_PATH, Refused.NO_PATH),
        ("~other/a", Refused.NO_PATH, Refused.NO_PATH),
        ("C:/a", Refused.NO_PATH, Refused.NO_PATH),
        ("a.vibekit-restore-123/x", Refused.STAGE, None),
    ],
)
def test_what_lies_elsewhere_is_refused_for_writing_and_asked_about_for_reading(
    text: str, write: Refused, read: Refused | None
) -> None:
    for operation in (Operation.EDIT, Operation.CREATE, Operation.DELETE, Operation.MOVE):
        assert judge(text, operation, HERE).refused is write
    found = judge(text, Operation.READ, HERE)
    assert found.refused is read
    if read is None and write is not Refused.STAGE:
        assert (found.verdict, found.why) == (Verdict.ASK, Why.OUTSIDE)


@pytest.mark.parametrize("text", ["", "/home/u/work", ".", "\0", "a\0b", "x" * 4100, "/".join("a" * 1100), "\ud800", "a\udfff"])
def test_a_text_that_is_no_file_is_refused(text: str) -> None:
    assert judge(text, Operation.EDIT, HERE).verdict is Verdict.REFUSE


def test_bytes_that_are_no_utf_8_are_a_path() -> None:
    assert judge("a\udc80", Operation.EDIT, HERE).verdict is Verdict.FREE


@pytest.mark.parametrize(
    ("text", "path"),
    [("src\\a.py", "src/a.py"), ("c:\\users\\U\\Work\\a", "a"), ("C:/Users/u/work/a", "a"), ("file:///C:/Users/u/work/a", "a")],
)
def test_on_windows_paths_are_found_however_they_are_written(text: str, path: str) -> None:
    assert judge(text, Operation.EDIT, WINDOWS).path == path


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("..\\a", Refused.OUTSIDE),
        ("D:\\a", Refused.OUTSIDE),
        ("\\\\server\\share\\a", Refused.OUTSIDE),
        ("\\\\?\\C:\\Users\\u\\work\\a", Refused.OUTSIDE),
        ("C:\\Users\\u\\.ssh\\id_rsa", Refused.KEYS),
        ("C:\\Users\\u\\AppData\\Local\\ours\\x", Refused.OWN_DATA),
        (
            "C:\\Users\\u\\AppData\\Roaming\\Microsoft\\Windows\\Start Menu\\Programs\\Startup\\x.bat",
            Refused.AUTOSTART,
        ),
        (".git\\config", Refused.REPOSITORY),
    ],
)
def test_on_windows_the_same_is_refused(text: str, refused: Refused) -> None:
    assert judge(text, Operation.EDIT, WINDOWS).refused is refused


def test_a_workspace_inside_of_a_folder_of_settings_can_be_worked_in_but_is_asked_about() -> None:
    bounds = Bounds("/home/u/.config/nvim", "/home/u")
    found = judge("init.lua", Operation.EDIT, bounds)
    assert (found.verdict, found.why) == (Verdict.ASK, Why.RUNS_LATER)
    assert judge("id_rsa", Operation.EDIT, bounds).refused is Refused.KEYS


@given(
    st.text(max_size=60) | st.lists(st.sampled_from(["..", ".", "a", "", "~", ".git", "work", "home", "u", "C:"])).map("/".join)
)
def test_every_text_has_a_verdict_and_what_is_inside_stays_inside(text: str) -> None:
    for bounds in (HERE, WINDOWS, Bounds("/", "/root")):
        for operation in Operation:
            found = judge(text, operation, bounds)
            assert (found.refused is not None) == (found.verdict is Verdict.REFUSE)
            if found.path is not None:
                assert not set(found.path.split("/")) & {"", ".", ".."}
            elif operation in (Operation.EDIT, Operation.DELETE):
                assert found.verdict is Verdict.REFUSE


# -- rules -----------------------------------------------------------------------------------------------------------


def want(
    operation: Operation, *paths: str, command: str = "", folder: str = "", exact: bool = True, why: Why | None = None
) -> Wanted:
    return Wanted(
        operation=operation,
        paths=tuple(WorkspacePath(path) for path in paths),
        command=command,
        folder=folder,
        exact=exact,
        why=frozenset() if why is None else frozenset({why}),
    )


def rule(kind: RuleKind, subject: str = "", chat: ChatId = CHAT) -> Rule:
    return Rule(chat=chat, kind=kind, subject=subject)


@pytest.mark.parametrize(
    ("one", "wanted", "allowed"),
    [
        (rule(RuleKind.COMMAND, "npm test"), want(Operation.RUN, command="npm test"), True),
        (rule(RuleKind.COMMAND, "npm test"), want(Operation.RUN, command="npm test "), False),
        (rule(RuleKind.COMMAND, "npm test"), want(Operation.RUN, command="npm test && x"), False),
        (rule(RuleKind.COMMAND, "npm test"), want(Operation.RUN, command="npm test", folder="sub"), False),
        (rule(RuleKind.COMMAND, "npm test"), want(Operation.RUN, command="npm test", exact=False), False),
        (rule(RuleKind.COMMAND, "npm test"), want(Operation.RUN, command="npm test", why=Why.OUTSIDE), False),
        (rule(RuleKind.COMMAND, "npm test"), want(Operation.RUN, command="npm test", why=Why.NOT_ANNOUNCED), True),
        (rule(RuleKind.COMMAND, ""), want(Operation.RUN, command=""), False),
        (rule(RuleKind.COMMAND, "npm test", OTHER), want(Operation.RUN, command="npm test"), False),
        (rule(RuleKind.FOLDER, "src"), want(Operation.EDIT, "src/a"), True),
        (rule(RuleKind.FOLDER, "src"), want(Operation.CREATE, "src/a/b"), True),
        (rule(RuleKind.FOLDER, "src"), want(Operation.EDIT, "src"), False),
        (rule(RuleKind.FOLDER, "src"), want(Operation.EDIT, "src2/a"), False),
        (rule(RuleKind.FOLDER, "src"), want(Operation.EDIT, "src/a", "b"), False),
        (rule(RuleKind.FOLDER, "src"), want(Operation.EDIT), False),
        (rule(RuleKind.FOLDER, ""), want(Operation.EDIT, "a"), False),
        (rule(RuleKind.FOLDER, "src"), want(Operation.EDIT, "src/a", why=Why.RUNS_LATER), False),
        (rule(RuleKind.FOLDER, "src"), want(Operation.EDIT, "src/a", why=Why.CHANGED), False),
        (rule(RuleKind.EDITS), want(Operation.EDIT, "a"), True),
        (rule(RuleKind.EDITS), want(Operation.EDIT, "a", why=Why.NOT_ANNOUNCED), True),
        (rule(RuleKind.EDITS), want(Operation.EDIT, "a", why=Why.OTHER_CONTENT), False),
        (rule(RuleKind.EDITS), want(Operation.EDIT), False),
        (rule(RuleKind.EDITS), want(Operation.DELETE, "a"), False),
        (rule(RuleKind.EDITS), want(Operation.MOVE, "a", "b"), False),
        (rule(RuleKind.EDITS), want(Operation.RUN, command="x"), False),
        (rule(RuleKind.READS), want(Operation.READ, "a"), True),
        (rule(RuleKind.READS), want(Operation.READ, why=Why.OUTSIDE), False),
        (rule(RuleKind.READS), want(Operation.EDIT, "a"), False),
        (rule(RuleKind.READS), want(Operation.OTHER), False),
        (rule(RuleKind.READS), want(Operation.FETCH), False),
    ],
)
def test_a_rule_allows_what_it_names_and_nothing_like_it(one: Rule, wanted: Wanted, allowed: bool) -> None:
    assert rules.allows([one], CHAT, wanted) is allowed


@pytest.mark.parametrize(
    ("wanted", "lasting"),
    [
        (want(Operation.EDIT, "src/a"), (Answer.ALLOW_FOLDER, Answer.ALLOW_EDITS)),
        (want(Operation.CREATE, "a"), (Answer.ALLOW_EDITS,)),
        (want(Operation.EDIT, "src/a", "lib/b"), (Answer.ALLOW_EDITS,)),
        (want(Operation.EDIT), ()),
        (want(Operation.DELETE, "src/a"), ()),
        (want(Operation.MOVE, "src/a", "src/b"), ()),
        (want(Operation.RUN, command="x"), (Answer.ALLOW_COMMAND,)),
        (want(Operation.RUN, command="x", folder="sub"), ()),
        (want(Operation.RUN, command="x", exact=False), ()),
        (want(Operation.READ, "a"), (Answer.ALLOW_READS,)),
        (want(Operation.READ, why=Why.OUTSIDE), ()),
        (want(Operation.FETCH), ()),
        (want(Operation.OTHER), ()),
        (want(Operation.EDIT, "src/a", why=Why.CHANGED), ()),
    ],
)
def test_only_answers_that_can_be_kept_are_offered_and_each_makes_a_rule_that_covers_it(
    wanted: Wanted, lasting: tuple[Answer, ...]
) -> None:
    assert rules.answers(wanted) == (Answer.ALLOW_ONCE, *lasting, Answer.DENY)
    assert rules.answers(wanted, Hold.DISK_FULL) == (Answer.RETRY, Answer.UNPROTECTED, Answer.DENY)
    for answer in lasting:
        made = rules.rule_of(answer, CHAT, wanted, 5)
        assert made is not None
        assert made.made_at == 5
        assert rules.allows([made], CHAT, wanted)
    for answer in (Answer.ALLOW_ONCE, Answer.DENY, Answer.RETRY, Answer.UNPROTECTED):
        assert rules.rule_of(answer, CHAT, wanted, 5) is None


@pytest.mark.parametrize(
    ("paths", "folder"),
    [
        (["a"], ""),
        (["src/a"], "src"),
        (["src/a/x", "src/b/y"], "src"),
        (["src/a", "src/a/b"], "src"),
        (["s/a", "t/a"], ""),
        ([], ""),
    ],
)
def test_the_folder_of_edits_is_the_innermost_that_holds_all(paths: list[str], folder: str) -> None:
    assert rules.folder_of([WorkspacePath(path) for path in paths]) == folder
