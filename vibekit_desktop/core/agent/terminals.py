"""The terminals that an agent's commands run in: what each wrote, as bounded plain text, and how it ended.

An agent may add variables to a command's environment, but none that change which code is loaded. The text of a terminal can be
shown also after its agent has let go of it. Loop thread.
"""

import asyncio
import codecs
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from vibekit_desktop.core.agent.ansi import COLUMNS, ROWS, Screen, newest
from vibekit_desktop.core.agent.link import Denied, TerminalExit, TerminalOutput
from vibekit_desktop.core.agent.pty_command import PtyCommand

LIMIT_BYTES = 1 << 20
MOST_BYTES = 8 << 20
TEXT_BYTES = 256 << 10
"""What is kept of a terminal's end for the transcript."""
MOST_RUNNING = 32
MOST_KEPT = 64
MOST_ARGUMENTS_BYTES = 128 << 10
"""No system takes a longer argument."""
QUIET_S = 0.05
"""News of output are told at most so often."""

_OURS = {"TERM": "xterm-256color", "PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat"}
"""Nobody turns the pages of a pager here."""
_LOADING = frozenset(
    {
        "PATH", "BASH_ENV", "ENV", "ZDOTDIR", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "PS4", "IFS", "SHELL", "HOME",
        "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONBREAKPOINT", "PYTHONUSERBASE", "PYTHONINSPECT", "PYTHONWARNINGS",
        "NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "NPM_CONFIG_SCRIPT_SHELL", "PERL5OPT", "PERL5LIB", "PERLLIB",
        "PERL5DB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "GCONV_PATH",
        "LOCPATH", "RUSTC_WRAPPER", "RUSTC", "CC", "CXX", "LUA_INIT", "LUA_PATH", "LUA_CPATH", "PHPRC", "PHP_INI_SCAN_DIR",
        "EDITOR", "VISUAL", "BROWSER", "SSH_ASKPASS", "SUDO_ASKPASS", "LESSOPEN", "LESSCLOSE", "OPENSSL_CONF",
    }
)  # fmt: skip
_LOADING_STARTS = ("LD_", "DYLD_", "BASH_FUNC_", "GIT_", "COR_", "CORECLR_", "DOTNET_STARTUP", "_RLD", "GLIBC_", "MALLOC_")
_HARMLESS = {"PAGER": "cat", "MANPAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
"""Names that may be given this value only."""


def allowed_extras(extras: Sequence[tuple[str, str]]) -> dict[str, str]:
    """What an agent may add to the environment of a command; the rest is dropped."""
    found: dict[str, str] = {}
    for name, value in extras:
        upper = name.upper()
        loads = upper in _LOADING or upper.startswith(_LOADING_STARTS)
        harmless = _HARMLESS[upper] == value if upper in _HARMLESS else not loads
        if name and harmless and "=" not in name and "\0" not in name + value:
            found[name] = value
    return found


@dataclass(slots=True)
class _Terminal:
    """One terminal. ``exit`` is set once its command is gone."""

    command: PtyCommand
    screen: Screen
    limit: int
    decoder: codecs.IncrementalDecoder = field(default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace"))
    exit: TerminalExit | None = None
    tried: asyncio.Event = field(default_factory=asyncio.Event)
    """It was started, or could not be."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    watch: asyncio.Task[None] | None = None
    told: asyncio.TimerHandle | None = None


class Terminals:
    """The terminals of one agent. ``changed`` is called with the id of one that wrote something or ended."""

    def __init__(self, env: Mapping[str, str], changed: Callable[[str], None]) -> None:
        self._env = dict(env)
        self._changed = changed
        self._open: dict[str, _Terminal] = {}
        self._kept: dict[str, tuple[str, TerminalExit | None]] = {}
        self._number = 0

    async def create(
        self,
        command: str,
        args: Sequence[str],
        folder: str,
        env: Sequence[tuple[str, str]],
        limit_bytes: int | None,
    ) -> str:
        """Run a program with arguments, or without any a line of a shell; the terminal's id. `Denied` if it can't be."""
        if len(self.running()) >= MOST_RUNNING:
            raise Denied("too-many", "Too many commands are running at the same time.")
        limit = LIMIT_BYTES if limit_bytes is None else max(0, min(limit_bytes, MOST_BYTES))
        self._number += 1
        terminal_id = f"terminal-{self._number}"
        screen = Screen(max(limit, TEXT_BYTES))
        terminal = _Terminal(PtyCommand(lambda data: self._heard(terminal_id, data)), screen, limit)
        self._open[terminal_id] = terminal
        try:
            words = await asyncio.to_thread(self._words, command, args)
            env_of_it = {**self._env, **_OURS, **allowed_extras(env)}
            await terminal.command.start(words, folder, env_of_it, ROWS, COLUMNS)
        except (OSError, ValueError) as error:
            self._open.pop(terminal_id, None)
            raise Denied("cannot-start", "The command could not be started there.") from error
        except BaseException:
            self._open.pop(terminal_id, None)
            raise
        finally:
            terminal.tried.set()
        terminal.watch = asyncio.create_task(self._watch(terminal_id, terminal), name="a command in a terminal")
        self._changed(terminal_id)
        return terminal_id

    def _words(self, command: str, args: Sequence[str]) -> list[str]:
        """What is run, its program found on the PATH. Blocking."""
        path = self._env.get("PATH")
        texts = [command, *args]
        if not command.strip() or any("\0" in text for text in texts) or sum(map(len, texts)) > MOST_ARGUMENTS_BYTES:
            raise Denied("cannot-start", "This is no command that can be started.")
        if not args:
            if sys.platform == "win32":
                return [self._env.get("COMSPEC", r"C:\Windows\System32\cmd.exe"), "/d", "/c", command]
            return [shutil.which("bash", path=path) or "/bin/sh", "-c", command]
        if "/" in command or "\\" in command:
            return texts  # from the folder that it runs in
        program = shutil.which(command, path=path)
        if program is None:
            raise Denied("cannot-start", "There is no such program.")
        return [program, *args]

    # -- what it writes ----------------------------------------------------------------------------------------------

    def _heard(self, terminal_id: str, data: bytes) -> None:
        terminal = self._open.get(terminal_id)
        if terminal is None:
            return
        terminal.screen.feed(terminal.decoder.decode(data))
        if terminal.told is None:
            terminal.told = asyncio.get_running_loop().call_later(QUIET_S, self._tell, terminal_id, terminal)

    def _tell(self, terminal_id: str, terminal: _Terminal) -> None:
        terminal.told = None
        self._changed(terminal_id)

    def output(self, terminal_id: str) -> TerminalOutput:
        """What it wrote so far."""
        terminal = self._require(terminal_id)
        text, cut = newest(terminal.screen.text(), terminal.limit)
        return TerminalOutput(text=text, truncated=cut or terminal.screen.dropped, exit=terminal.exit)

    def text(self, terminal_id: str) -> str:
        """The end of what it wrote, to be shown; also after it was let go of. Empty if nothing is known of it."""
        terminal = self._open.get(terminal_id)
        return self._kept.get(terminal_id, ("", None))[0] if terminal is None else newest(terminal.screen.text(), TEXT_BYTES)[0]

    def exit(self, terminal_id: str) -> TerminalExit | None:
        """How its command ended, also after it was let go of; None while it runs, or if nothing is known of it."""
        terminal = self._open.get(terminal_id)
        return self._kept.get(terminal_id, ("", None))[1] if terminal is None else terminal.exit

    def running(self) -> tuple[str, ...]:
        """The terminals whose command runs."""
        return tuple(terminal_id for terminal_id, terminal in self._open.items() if terminal.exit is None)

    def _require(self, terminal_id: str) -> _Terminal:
        terminal = self._open.get(terminal_id)
        if terminal is None:
            raise Denied("no-terminal", "There is no such terminal.")
        return terminal

    # -- how it ends -------------------------------------------------------------------------------------------------

    async def _watch(self, terminal_id: str, terminal: _Terminal) -> None:
        try:
            status = await terminal.command.wait()
            terminal.screen.feed(terminal.decoder.decode(b"", final=True))
            terminal.exit = TerminalExit(None, None) if status is None else _exit(status)
        finally:
            if terminal.exit is None:
                terminal.exit = TerminalExit(None, None)
            terminal.ended.set()
        self._changed(terminal_id)

    async def wait(self, terminal_id: str) -> TerminalExit:
        """Wait until the command itself is gone; what it left running is not waited for."""
        terminal = self._require(terminal_id)
        await terminal.ended.wait()
        return terminal.exit or TerminalExit(None, None)

    async def kill(self, terminal_id: str) -> None:
        """End the command with all that it started; what it wrote stays. One that is gone is left in peace."""
        terminal = self._require(terminal_id)
        await terminal.command.end()
        await terminal.ended.wait()

    async def release(self, terminal_id: str) -> None:
        """End the command if it runs; only its text is still known."""
        terminal = self._require(terminal_id)
        await self._let_go(terminal_id, terminal)

    async def close(self) -> None:
        """End all commands. New ones may be started afterwards."""
        await asyncio.gather(*(self._let_go(terminal_id, terminal) for terminal_id, terminal in list(self._open.items())))

    async def _let_go(self, terminal_id: str, terminal: _Terminal) -> None:
        await terminal.tried.wait()  # what is just being started has nothing to be ended yet
        await terminal.command.end()
        if terminal.watch is not None:
            await terminal.ended.wait()
        terminal.command.close()
        if terminal.told is not None:
            terminal.told.cancel()
            terminal.told = None
        if self._open.pop(terminal_id, None) is None:
            return  # somebody else has let go of it meanwhile
        self._kept[terminal_id] = newest(terminal.screen.text(), TEXT_BYTES)[0], terminal.exit
        while len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._changed(terminal_id)


def _exit(status: int) -> TerminalExit:
    if status >= 0:
        return TerminalExit(status, None)
    try:
        return TerminalExit(None, signal.Signals(-status).name)
    except ValueError:
        return TerminalExit(None, f"SIG{-status}")
