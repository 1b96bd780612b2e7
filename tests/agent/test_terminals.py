"""Commands in terminals of ours: run, heard, bounded, ended; and the text of what they wrote."""

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibekit_desktop.core.agent import pty_command
from vibekit_desktop.core.agent.ansi import COLUMNS, ROWS, Screen, marked, newest
from vibekit_desktop.core.agent.link import Denied, TerminalExit
from vibekit_desktop.core.agent.terminals import MOST_RUNNING, TEXT_BYTES, Terminals, allowed_extras

T = TypeVar("T")
ENV = {"PATH": "/usr/bin:/bin", "HOME": "/", "LANG": "C.UTF-8"}


def running(work: Callable[[Terminals], Coroutine[object, object, T]]) -> T:
    """Do something with terminals, all of which end."""

    async def inside() -> T:
        terminals = Terminals(ENV, lambda terminal: None)
        try:
            async with asyncio.timeout(30):
                return await work(terminals)
        finally:
            await terminals.close()

    return asyncio.run(inside())


def output(line: str, folder: Path, **more: object) -> str:
    """What a line of a shell writes."""

    async def work(terminals: Terminals) -> str:
        terminal = await terminals.create(line, [], str(folder), [], None)
        await terminals.wait(terminal)
        return terminals.output(terminal).text

    return running(work)


def dead(pid: str) -> bool:
    """Whether a process is gone, or only waits to be forgotten."""
    try:
        return Path("/proc", pid, "stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_command_writes_to_a_terminal_that_controls_it_and_reads_from_nothing(tmp_path: Path) -> None:
    line = "test -t 1 && test -t 2 && echo terminal; stty size </dev/tty; echo $TERM; read x || echo nothing to read; pwd"
    assert output(line, tmp_path) == f"terminal\n{ROWS} {COLUMNS}\nxterm-256color\nnothing to read\n{tmp_path}\n"


def test_a_program_gets_its_arguments_as_they_are(tmp_path: Path) -> None:
    async def work(terminals: Terminals) -> str:
        terminal = await terminals.create("printf", ["%s|", "a b", "$HOME", "*", ""], str(tmp_path), [], None)
        await terminals.wait(terminal)
        return terminals.output(terminal).text

    assert running(work) == "a b|$HOME|*||"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("exit 3", TerminalExit(3, None)),
        ("true", TerminalExit(0, None)),
        ("kill -9 $$", TerminalExit(None, "SIGKILL")),
        ("kill -USR1 $$", TerminalExit(None, "SIGUSR1")),
        ("/no/such/program", TerminalExit(127, None)),
    ],
)
def test_how_a_command_ended_is_told(tmp_path: Path, line: str, found: TerminalExit) -> None:
    async def work(terminals: Terminals) -> tuple[TerminalExit, TerminalExit | None]:
        terminal = await terminals.create(line, [], str(tmp_path), [], None)
        return await terminals.wait(terminal), terminals.output(terminal).exit

    assert running(work) == (found, found)


@pytest.mark.parametrize(
    ("command", "args", "folder"),
    [
        ("no-such-program", ["x"], "/"),
        ("ls", [], "/no/such/folder"),
        ("", [], "/"),
        ("a\0b", [], "/"),
        ("ls", ["\0"], "/"),
        ("ls", ["x" * 200_000], "/"),
    ],
)
def test_what_cannot_be_started_is_denied_and_leaves_nothing(command: str, args: list[str], folder: str) -> None:
    async def work(terminals: Terminals) -> str:
        before = len(os.listdir("/proc/self/fd"))
        with pytest.raises(Denied) as denied:
            await terminals.create(command, args, folder, [], None)
        assert terminals.running() == ()
        assert len(os.listdir("/proc/self/fd")) == before
        return denied.value.code

    assert running(work) == "cannot-start"


def test_what_was_written_is_bounded_from_the_front_in_whole_characters(tmp_path: Path) -> None:
    async def work(terminals: Terminals) -> None:
        terminal = await terminals.create("printf 'ä%.0s' $(seq 1000); printf end", [], str(tmp_path), [], 101)
        await terminals.wait(terminal)
        found = terminals.output(terminal)
        assert found.truncated
        assert found.text == "ä" * 49 + "end"
        assert len(terminals.text(terminal)) == 1003

    running(work)


def test_a_flood_is_bounded_and_the_loop_stays_free(tmp_path: Path) -> None:
    async def work(terminals: Terminals) -> None:
        terminal = await terminals.create("yes a rather long line to be written again and again", [], str(tmp_path), [], None)
        loop = asyncio.get_running_loop()
        longest = 0.0
        for _ in range(200):
            began = loop.time()
            await asyncio.sleep(0)
            longest = max(longest, loop.time() - began)
        assert longest < 0.5
        await terminals.release(terminal)
        assert len(terminals.text(terminal)) <= TEXT_BYTES

    running(work)


def test_a_command_is_ended_with_all_that_it_started_also_what_left_its_group(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    child = f"sh -c 'echo $$ >> {pids}; trap \"\" TERM HUP; while :; do sleep 1; done'"

    async def work(terminals: Terminals) -> None:
        line = f"setsid {child} & {child} & echo $$ >> {pids}; trap '' TERM; wait; wait; sleep 600"
        terminal = await terminals.create(line, [], str(tmp_path), [], None)
        while not pids.exists() or len(pids.read_text().split()) < 3:  # noqa: ASYNC110 - other processes write it
            await asyncio.sleep(0.01)
        await terminals.kill(terminal)
        assert terminals.output(terminal).exit == TerminalExit(None, "SIGKILL")
        assert terminals.running() == ()
        assert all(dead(pid) for pid in pids.read_text().split())
        await terminals.kill(terminal)
        await terminals.release(terminal)

    running(work)


def test_the_end_of_a_command_hangs_up_on_what_it_left_in_the_background_but_not_on_a_service(tmp_path: Path) -> None:
    wait = "while [ ! -s job ] || [ ! -s service ]; do sleep 0.01; done"
    jobs = "sh -c 'echo $$ > job; exec sleep 600' & setsid sh -c 'echo $$ > service; exec sleep 600' &"

    async def work(terminals: Terminals) -> None:
        terminal = await terminals.create(f"{jobs} {wait}; echo done", [], str(tmp_path), [], None)
        assert await terminals.wait(terminal) == TerminalExit(0, None)
        assert terminals.output(terminal).text == "done\n"
        await terminals.release(terminal)
        assert dead((tmp_path / "job").read_text().strip())
        service = (tmp_path / "service").read_text().strip()
        assert not dead(service)
        os.kill(int(service), 9)

    running(work)


def test_the_text_stays_after_the_agent_let_go_and_nothing_else_does(tmp_path: Path) -> None:
    async def work(terminals: Terminals) -> None:
        terminal = await terminals.create("echo hello", [], str(tmp_path), [], None)
        await terminals.wait(terminal)
        await terminals.release(terminal)
        assert terminals.text(terminal) == "hello\n"
        assert terminals.text("nobody's") == ""
        for ask in (terminals.wait, terminals.kill, terminals.release):
            with pytest.raises(Denied):
                await ask(terminal)
        with pytest.raises(Denied):
            terminals.output(terminal)

    running(work)


def test_who_waits_for_a_command_hears_of_its_end_when_it_is_let_go_of(tmp_path: Path) -> None:
    async def work(terminals: Terminals) -> None:
        terminal = await terminals.create("sleep 600", [], str(tmp_path), [], None)
        waiting = asyncio.ensure_future(terminals.wait(terminal))
        await asyncio.sleep(0)
        await asyncio.gather(terminals.release(terminal), terminals.close())
        assert (await waiting).signal == "SIGTERM"

    running(work)


def test_news_are_told_of_output_and_of_the_end(tmp_path: Path) -> None:
    async def inside() -> list[str]:
        news: list[str] = []
        terminals = Terminals(ENV, news.append)
        terminal = await terminals.create("echo a", [], str(tmp_path), [], None)
        await terminals.wait(terminal)
        await terminals.close()
        assert set(news) == {terminal}
        return news

    assert len(asyncio.run(inside())) >= 2


def test_too_many_commands_at_once_are_denied_and_descriptors_come_back(tmp_path: Path) -> None:
    async def work(terminals: Terminals) -> None:
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(MOST_RUNNING):
            await terminals.create("sleep 600", [], str(tmp_path), [], None)
        with pytest.raises(Denied) as denied:
            await terminals.create("true", [], str(tmp_path), [], None)
        assert denied.value.code == "too-many"
        await terminals.close()
        assert len(os.listdir("/proc/self/fd")) <= before + 1

    running(work)


def test_an_agent_adds_variables_but_none_that_change_which_code_is_loaded(tmp_path: Path) -> None:
    extras = [
        ("FOO", "1"),
        ("LD_PRELOAD", "/x.so"),
        ("Path", "/evil"),
        ("BASH_ENV", "x"),
        ("NODE_OPTIONS", "-r x"),
        ("A=B", "x"),
    ]
    more = [
        ("GIT_PAGER", "cat"),
        ("PAGER", "evil"),
        ("GIT_SSH_COMMAND", "evil"),
        ("DYLD_INSERT_LIBRARIES", "x"),
        ("X", "a\0b"),
        ("", "x"),
    ]
    assert allowed_extras([*extras, *more]) == {"FOO": "1", "GIT_PAGER": "cat"}

    async def work(terminals: Terminals) -> str:
        terminal = await terminals.create("echo $FOO$LD_PRELOAD $PATH", [], str(tmp_path), extras, None)
        await terminals.wait(terminal)
        return terminals.output(terminal).text

    assert running(work) == "1 /usr/bin:/bin\n"


# -- text ------------------------------------------------------------------------------------------------------------


def shown(text: str, limit: int = 1 << 20) -> str:
    """What a terminal shows, whole and in single characters alike."""
    whole, single = Screen(limit), Screen(limit)
    whole.feed(text)
    for sign in text:
        single.feed(sign)
    assert whole.text() == single.text()
    return whole.text()


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("a\r\nb\n", "a\nb\n"),
        ("10%\r50%\r100%\r\ndone", "100%\ndone"),
        ("loading...\r\x1b[Kdone\r\n", "done\n"),
        ("spin |\b/\b-\b\\\n", "spin \\\n"),
        ("bold b\bbo\bo", "bold bo"),
        ("a\nb\nc\n\x1b[2A\x1b[2KB\n\n", "a\nB\nc\n"),
        ("one\ntwo\n\x1b[1A\x1b[Jnew\n", "one\nnew\n"),
        ("1 of 2\n\x1b[F2 of 2\n", "2 of 2\n"),
        ("abcdef\x1b[3D\x1b[1Px", "abcxf"),
        ("ab\x1b[5Gx", "ab  x"),
        ("old\x1b[2J\x1b[Hnew", "new"),
        ("\x1b[1;31mred\x1b[0m plain", "red plain"),
        ("\x1b]0;title\x07a\x1b]2;other\x1b\\b", "ab"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;cm0gLXJmIH4=\x07x", "x"),
        ("\x1bPq#0;2;0;0;0\x1b\\x\x1b_apc\x1b\\y\x1b^pm\x1b\\z\x1bXsos\x1b\\", "xyz"),
        ("\x9b31mx\x9d0;title\x9cy\x90dcs\x9cz\x80", "xyz"),
        ("\x1b[?1049hfull screen\x1b[2;2Hx\x1b[?1049lafter", "after"),
        ("\x1b(B\x1b=\x1b>\x1b[?25l\x1b[?2004hx\x1b[>c\x1b[6n\x1b[!p", "x"),
        ("bell\x07 nul\x00 del\x7f", "bell␇ nul␀ del␡"),
        ("\x1b]0;never ends\nnext line", "\nnext line"),
        ("\x1b[31", ""),
        ("\x1b[" + "1" * 100 + "mx", "1" * 35 + "mx"),
        ("\x1b[3\x1b[31mx", "x"),
        ("\x1b[3\ny", "\ny"),
        ("a\x1bMb", "ab"),
        ("tab\tx", "tab\tx"),
        ("\x1b[99999999999999999999Ax\x1b[999999B\x1b[9999999Cy", None),
    ],
)
def test_what_a_terminal_shows_is_plain_text(written: str, text: str | None) -> None:
    found = shown(written)
    if text is not None:
        assert found == text
    assert not any(sign < " " and sign not in "\n\t" for sign in found)


def test_a_progress_bar_of_a_thousand_steps_is_one_line() -> None:
    screen = Screen(1 << 20)
    for step in range(1000):
        screen.feed(f"\r\x1b[K\x1b[32m{'#' * (step // 20)}\x1b[0m {step}")
    assert screen.text() == "#" * 49 + " 999"


def test_several_bars_that_are_drawn_again_and_again_are_shown_once() -> None:
    screen = Screen(1 << 20)
    screen.feed("first\n" + "\n" * 3)
    for step in range(500):
        screen.feed("\x1b[3A" + "".join(f"\x1b[2Kbar {bar}: {step}\r\n" for bar in range(3)))
    assert screen.text() == "first\nbar 0: 499\nbar 1: 499\nbar 2: 499\n"


def test_the_oldest_text_goes_first() -> None:
    screen = Screen(1000)
    for number in range(10_000):
        screen.feed(f"line {number}\r\n")
    text = screen.text()
    assert screen.dropped
    assert text.endswith("line 9998\nline 9999\n")
    assert 1000 <= len(text) < 3000


def test_a_line_without_an_end_is_bounded() -> None:
    screen = Screen(100_000)
    for _ in range(1000):
        screen.feed("x" * 5000)
    screen.feed("\rnew")
    assert len(screen.text()) < 400_000


@given(st.text(alphabet="ab\n\r\b\t\x1b[]0123;?HJKmhlABCDPLMX@\x07\\\x9b\x9d\x90ä漢", max_size=120))
def test_no_output_is_too_odd_and_pieces_do_not_matter(text: str) -> None:
    found = shown(text)
    assert "\x1b" not in found
    assert "\r" not in found


@given(st.text(max_size=50), st.integers(0, 60))
def test_the_end_of_a_text_is_cut_between_characters(text: str, limit: int) -> None:
    found, cut = newest(text, limit)
    whole = text.encode("utf-8", "replace").decode()
    assert whole.endswith(found)
    assert len(found.encode()) <= limit
    assert cut == (found != whole)


def test_control_characters_in_a_line_are_marks() -> None:
    assert marked("a\x1b[31m\n\x7f\x9b") == "a␛[31m␊␡␡"


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.expects_log("could not be ended")
def test_a_command_that_nothing_ends_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that runs as somebody else, by sudo say: the system refuses every signal to it."""

    def refuse(*_given: object) -> None:
        raise PermissionError

    async def work(terminals: Terminals) -> TerminalExit:
        terminal = await terminals.create("sleep 1000", [], str(tmp_path), [], None)
        waiting = asyncio.create_task(terminals.wait(terminal))
        with monkeypatch.context() as patched:
            patched.setattr(pty_command, "KILL_S", 0.05)
            patched.setattr(pty_command, "TERMINATE_S", 0.05)
            patched.setattr(os, "killpg", refuse)
            patched.setattr(signal, "pidfd_send_signal", refuse)
            await terminals.kill(terminal)
        assert terminals.running() == ()
        await terminals.kill(terminal)  # now the system lets us, and nothing is left
        return await waiting

    assert running(work) == TerminalExit(None, None)
