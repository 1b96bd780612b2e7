"""Claude Code's tools by name: what kind of call each is, and how a call is titled. Pure; any thread."""

from collections.abc import Mapping

from vibekit_desktop.core.sources.claude_replay import EDITING
from vibekit_desktop.core.sources.reading import text

RUNS_COMMANDS = frozenset({"Bash", "PowerShell", "Monitor", "REPL"})
SPAWNS = frozenset({"Task", "Agent", "Workflow"})
_READS = frozenset({"Read", "NotebookRead", "LSP"})
_SEARCHES = frozenset({"Grep", "Glob", "LS", "ToolSearch", "ListMcpResourcesTool"})
_FETCHES = frozenset({"WebFetch", "WebSearch", "ReadMcpResourceTool"})
_TASKS = frozenset({"TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"})
_THINKS = _TASKS | {"EnterPlanMode", "ExitPlanMode", "exit_plan_mode", "AskUserQuestion"}
_WATCHES = frozenset({"BashOutput", "KillShell", "KillBash", "TaskOutput", "TaskStop", "AgentOutputTool"})
_OTHERS = frozenset({"Skill", "SlashCommand", "SendMessage", "ScheduleWakeup", "PushNotification", "StructuredOutput"})
HARMLESS = _READS | _SEARCHES | _FETCHES | _THINKS | _WATCHES | _OTHERS
"""Tools that change no file of the workspace by themselves. Anything not named here may."""

_TITLE_LENGTH = 120


def kind_of(tool: str) -> str:
    """The kind of a call (chat.md 1.8)."""
    if tool in EDITING:
        return "edit"
    if tool in _READS:
        return "read"
    if tool in _SEARCHES:
        return "search"
    if tool in RUNS_COMMANDS or tool in _WATCHES or tool == "bash":
        return "execute"
    if tool in _FETCHES:
        return "fetch"
    return "think" if tool in _THINKS else "other"


def title_of(tool: str, arguments: Mapping[str, object], shown_path: str) -> str:
    """One line that says what the call does."""
    detail = shown_path
    if not detail:
        for key in ("description", "command", "pattern", "query", "url", "subject", "skill", "prompt"):
            detail = text(arguments.get(key)).strip()
            if detail:
                break
    if tool.startswith("mcp__"):
        tool = ": ".join(part for part in tool[5:].split("__", 1) if part)
    lines = detail.splitlines()
    name = "Edit" if tool == "MultiEdit" else tool or "Tool"
    title = f"{name} {lines[0]}" if lines else name
    return title if len(title) <= _TITLE_LENGTH else title[: _TITLE_LENGTH - 1] + "…"


def path_of(arguments: Mapping[str, object]) -> str:
    """The file a call is about, as recorded; empty if it is about none."""
    for key in ("file_path", "notebook_path", "filePath"):
        found = text(arguments.get(key))
        if found:
            return found
    return text(arguments.get("path"))
