"""What the command line accepts: options, verbs, and the usage error.

A verb that is not there yet is not listed and is a usage error (command-line.md). Imports nothing heavy.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

TURN_EDGES = ("begin", "end", "command-begin", "command-end")


class UsageError(Exception):
    """The words of the call are wrong; exit status 2."""


class _Parser(argparse.ArgumentParser):
    """An argument parser that raises `UsageError` instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def folder_of(text: str) -> Path:
    """The folder that a person named."""
    return Path(os.path.abspath(os.path.expanduser(text)))


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()) or not (200 <= int(width) <= 8000 and 200 <= int(height) <= 8000):
        raise argparse.ArgumentTypeError("must look like 1440x900")
    return int(width), int(height)


def _messages(text: str) -> tuple[int, int]:
    first, _, last = text.partition(":")
    if not (first.isdecimal() and last.isdecimal()) or not 1 <= int(first) <= int(last):
        raise argparse.ArgumentTypeError("must look like 1:20, counted from 1, both included")
    return int(first), int(last)


def _export_format(text: str) -> str:
    known = {"md": "md", "markdown": "md", "json": "json", "html": "html", "patch": "patch"}.get(text.lower())
    if known is None:
        raise argparse.ArgumentTypeError("must be md, json, html or patch")
    return known


def _view(text: str) -> str:
    if text in ("transcript", "review", "first-run") or (text.startswith("restore:") and len(text) > len("restore:")):
        return text
    raise argparse.ArgumentTypeError("must be transcript, review, restore:POINT or first-run")


def _add_common(parser: argparse.ArgumentParser, *, default: object) -> None:
    parser.add_argument("--json", action="store_true", default=default, help="print one JSON object, nothing else")
    parser.add_argument("-v", "--verbose", action="store_true", default=default, help="also log to standard error")


def _add_mine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mine", choices=("keep", "restore"), default="keep", help="files changed since: keep yours, or restore"
    )


def _add_point_verbs(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    diff = verbs.add_parser("diff", help="changes between two points")
    diff.add_argument("chat", metavar="CHAT")
    diff.add_argument("paths", metavar="PATH", nargs="*")
    diff.add_argument("--from", dest="old", metavar="POINT", default="start")
    diff.add_argument("--to", dest="new", metavar="POINT", default="now")
    form = diff.add_mutually_exclusive_group()
    form.add_argument("--patch", action="store_true", help="print a unified diff that `git apply` takes")
    form.add_argument("--html", action="store_true", help="print a page to read, with what was reviewed and said")
    form.add_argument("--markdown", action="store_true", help="print a summary, with what was reviewed and said")
    diff.add_argument("--ignore-whitespace", action="store_true")

    comments = verbs.add_parser("comments", help="what was said of a chat's changes in its review")
    comments.add_argument("chat", metavar="CHAT")

    for name, text in (("preview", "what a restore would do"), ("restore", "put the workspace back to a point")):
        parser = verbs.add_parser(name, help=text)
        parser.add_argument("chat", metavar="CHAT")
        parser.add_argument("point", metavar="POINT")
        parser.add_argument("--path", dest="paths", metavar="PATH", nargs="+", action="extend", default=[])
        parser.add_argument("--scope", choices=("both", "files", "chat"), default="both")
        _add_mine(parser)
        if name == "restore":
            parser.add_argument("--plan", metavar="DIGEST", help="refuse if the plan is no longer this one")
            parser.add_argument("--yes", action="store_true", help="carry it out; without it the preview is printed")

    parser = verbs.add_parser("undo-file", help="put one file back, the transcript untouched")
    parser.add_argument("chat", metavar="CHAT")
    parser.add_argument("point", metavar="POINT")
    parser.add_argument("path", metavar="PATH")
    _add_mine(parser)
    parser.add_argument("--yes", action="store_true")

    parser = verbs.add_parser(
        "undo-turn",
        help="take back what one turn did and keep what came later",
        description="Take back what a turn did to the files. What later turns or people did stays, also in the same file. "
        "Lines that were changed again overlap: without --overlaps they are listed and nothing is done.",
    )
    parser.add_argument("chat", metavar="CHAT")
    parser.add_argument("turn", metavar="TURN", type=_positive)
    parser.add_argument("--path", dest="paths", metavar="PATH", nargs="+", action="extend", default=[], help="only these files")
    parser.add_argument(
        "--overlaps", choices=("keep", "undo"), help="where later work overlaps: keep it, or let it go with what it overlaps"
    )
    parser.add_argument("--yes", action="store_true", help="carry it out; without it the preview is printed")

    for name, text in (("undo", "take back the newest restore or undo of a change"), ("redo", "take back the newest undo")):
        parser = verbs.add_parser(name, help=text)
        parser.add_argument("chat", metavar="CHAT")
        _add_mine(parser)
        parser.add_argument("--yes", action="store_true")

    parser = verbs.add_parser(
        "end-restore",
        help="end a restore that another program began and did not end; its files stay as they are",
        description="A restore that another program began in this folder, or that came with a copied one, is never carried on "
        "here. This writes that it has ended. No file is changed; after it the chat can be restored again.",
    )
    parser.add_argument("chat", metavar="CHAT")
    parser.add_argument("--yes", action="store_true", help="end it; without it nothing is changed")

    parser = verbs.add_parser("cat", help="the exact bytes of a file at a point")
    parser.add_argument("chat", metavar="CHAT")
    parser.add_argument("point", metavar="POINT")
    parser.add_argument("path", metavar="PATH")

    parser = verbs.add_parser("checkout", help="write every file the chat knows at a point into an empty folder")
    parser.add_argument("chat", metavar="CHAT")
    parser.add_argument("point", metavar="POINT")
    parser.add_argument("folder", metavar="DIR")


def _add_export(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    export = verbs.add_parser(
        "export",
        help="a chat, or its changes, as one file",
        description="md: the transcript as a document. json: all that is stored of it. html: one page that needs nothing else. "
        "patch: its changes, from its start to what is on disk now, as `git apply` takes them.",
    )
    export.add_argument("chat", metavar="CHAT")
    export.add_argument("--format", type=_export_format, default="md", metavar="md|json|html|patch")
    export.add_argument("--out", metavar="FILE", help="a new file, or a folder to put it in; else standard output")


def _mode(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 3 <= len(text) <= 4) or set(text) & {"8", "9"} or int(text, 8) > 0o777:
        raise argparse.ArgumentTypeError("must be permissions in octal, as 644 or 0755")
    return int(text, 8)


def _add_turn_verbs(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    record = verbs.add_parser(
        "record",
        help="what a hook calls just before its agent writes a file",
        description="Keep PATH as it is now, just before somebody else writes it. Standard input is the new content if it is "
        "a pipe or a file, even an empty one; a terminal or the null device means that it is not known.",
    )
    record.add_argument("chat", metavar="CHAT")
    record.add_argument("path", metavar="PATH")
    record.add_argument("--delete", action="store_true", help="the file is about to be deleted")
    record.add_argument("--mode", type=_mode, metavar="MODE", help="the permissions it will have, in octal")

    turn = verbs.add_parser(
        "turn",
        help="what a hook calls at the edges of a turn and of a command",
        description="begin: a turn begins (makes the chat, with --workspace). command-begin, command-end: around a shell "
        "command. end: finds what nobody announced and prints the turn's files.",
    )
    turn.add_argument("chat", metavar="CHAT")
    turn.add_argument("edge", choices=TURN_EDGES, metavar="|".join(TURN_EDGES))
    turn.add_argument("--workspace", metavar="DIR", help="with begin: the folder that the agent works in")
    turn.add_argument("--agent", metavar="NAME", help="with begin: what people call the agent")
    turn.add_argument("--prompt", metavar="TEXT", help="with begin: what the person asked for")
    turn.add_argument("--answer", metavar="TEXT", help="with end: what the agent said")

    conflicts = verbs.add_parser("conflicts", help="files that somebody else changed under a chat's hands")
    conflicts.add_argument("chat", metavar="CHAT")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError("must be a number of seconds") from error
    if not 0 < value < 10_000_000:
        raise argparse.ArgumentTypeError("must be a number of seconds, more than 0")
    return value


def _add_agent_verbs(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    agents = verbs.add_parser("agents", help="agents that this computer can start")
    agents.add_argument("--check", action="store_true", help="start each one that is here, to see its version and its sign-in")

    prompt = verbs.add_parser(
        "prompt",
        help="say something to an agent and wait for the end of its turn",
        usage="%(prog)s [CHAT] TEXT [--workspace DIR] [--agent NAME | --agent-command CMD] [--allow reads|all|none] "
        "[--timeout S] [--json]",
        description="Runs one turn with a live agent, in CHAT or in a new chat of the folder DIR. Nobody is asked: --allow "
        "answers what the agent asks.",
        epilog="Exit status: 0 the agent ended its turn; 1 the turn ended otherwise (out of time, refused); 2 the call is "
        "wrong; 3 the agent or this computer failed, or it was interrupted; 4 busy.",
    )
    prompt.add_argument(
        "words",
        metavar="[CHAT] TEXT",
        nargs="+",
        help="what to say, in CHAT or else in a new chat; - takes the text from standard input",
    )
    prompt.add_argument("--workspace", metavar="DIR", help="the folder of a new chat")
    agent = prompt.add_mutually_exclusive_group()
    agent.add_argument("--agent", metavar="NAME", help="one of `agents`; in CHAT it answers from now on")
    agent.add_argument(
        "--agent-command",
        metavar="CMD",
        help="a command that speaks ACP on its standard input and output; ./PROGRAM is one in the present folder",
    )
    prompt.add_argument(
        "--allow",
        choices=("reads", "all", "none"),
        default="reads",
        metavar="reads|all|none",
        help="reads (the default): it may read in the folder, and nothing else; all: whatever may be asked for, also in files "
        "that a person is always asked about (.env, *.pem, build files), but never outside of the folder or in key files; "
        "none: nothing",
    )
    prompt.add_argument("--timeout", type=_seconds, metavar="S", help="stop the turn after so many seconds")


def _days(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 6):
        raise argparse.ArgumentTypeError("must be a number of days, 0 or more")
    return int(text)


def _add_chat_verbs(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    rename = verbs.add_parser("rename", help="give a chat another name")
    rename.add_argument("chat", metavar="CHAT")
    rename.add_argument("name", metavar="NAME")
    for name, text in (
        ("pin", "keep a chat at the top of the window's list"),
        ("unpin", "let a chat go where its date belongs"),
        ("archive", "put a chat out of sight; `list --archived` shows it"),
        ("unarchive", "bring an archived chat back"),
        ("promote", "a branch takes the place of its chat, which is archived"),
        ("discard", "delete a branch; what branched from it stays"),
        ("merge", "put what only a branch says at the end of its chat, and archive the branch"),
    ):
        verbs.add_parser(name, help=text).add_argument("chat", metavar="CHAT")

    delete = verbs.add_parser("delete", help="delete a chat and its branches for good; files stay as they are")
    delete.add_argument("chat", metavar="CHAT")
    delete.add_argument("--keep-branches", action="store_true", help="its branches stay, as those of its own parent")
    delete.add_argument("--yes", action="store_true", help="do it; without it nothing is changed")

    purge = verbs.add_parser("purge", help="delete the chats that were archived long ago")
    purge.add_argument("--older-than", type=_days, metavar="DAYS", required=True, help="archived longer ago than so many days")
    purge.add_argument("--yes", action="store_true", help="do it; without it nothing is changed")

    branch = verbs.add_parser("branch", help="a chat of its own that ends just before a turn")
    branch.add_argument("chat", metavar="CHAT")
    place = branch.add_mutually_exclusive_group(required=True)
    place.add_argument("--at", dest="turn", type=_positive, metavar="N", help="before this turn")
    place.add_argument("--message", metavar="ID", help="before this message")
    branch.add_argument(
        "--files", choices=("keep", "before"), default="keep", help="keep the files, or put them back to before it first"
    )

    settings = verbs.add_parser("settings", help="list, read or change the settings")
    settings.add_argument("key", metavar="KEY", nargs="?")
    settings.add_argument("value", metavar="VALUE", nargs="?")


def _build(version: str) -> _Parser:
    parser = _Parser(
        prog="vibekit-desktop",
        description="See what every turn of an AI coding agent changed, and take back any of it. Without a verb: the window.",
        epilog="CHAT: a chat id, a unique prefix of 8 characters or more, @1 for the first row of `list`, or SOURCE:SESSION. "
        "POINT: a tag (3, 3.2), before:N, after:N, start, now, entry:K.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"vibekit-desktop {version}")
    parser.add_argument("--data-dir", metavar="DIR", help="library, caches and new vaults live here")
    parser.add_argument("--vault", metavar="DIR", help="with --workspace: open this vibekit folder for this run")
    parser.add_argument("--workspace", dest="vault_workspace", metavar="DIR", help="the workspace of --vault")
    parser.add_argument("--home", metavar="DIR", help="look for other programs' histories under this home folder")
    parser.add_argument("--offscreen-shot", metavar="FILE.png", help="render the window, save the picture, quit")
    parser.add_argument("--size", type=_size, default=(1440, 900), metavar="WxH")
    parser.add_argument("--theme", choices=("light", "dark"))
    parser.add_argument("--open", dest="open_chat", metavar="CHAT", help="open this chat first")
    parser.add_argument("--view", type=_view, metavar="VIEW", help="transcript, review, restore:POINT, first-run")
    _add_common(parser, default=False)

    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=_Parser)
    listing = verbs.add_parser("list", help="chats, newest update first")
    listing.add_argument("--archived", action="store_true")
    listing.add_argument("--workspace", metavar="DIR")
    listing.add_argument("--limit", type=_positive, metavar="N")
    verbs.add_parser("sources", help="histories of other programs found on this computer")
    importing = verbs.add_parser("import", help="read one history file or folder")
    importing.add_argument("path", metavar="PATH")
    importing.add_argument("--workspace", metavar="DIR", help="the folder that the recorded one is mapped onto")
    importing.add_argument("--agent", metavar="NAME", help="the program that wrote it, if it is not recognised")
    show = verbs.add_parser("show", help="one chat with its messages")
    show.add_argument("chat", metavar="CHAT")
    show.add_argument("--messages", type=_messages, metavar="A:B")
    timeline = verbs.add_parser("timeline", help="what each turn did to the files")
    timeline.add_argument("chat", metavar="CHAT")
    _add_export(verbs)
    _add_point_verbs(verbs)
    _add_turn_verbs(verbs)
    _add_chat_verbs(verbs)
    _add_agent_verbs(verbs)
    verify = verbs.add_parser("verify", help="check every log, blob and chat file; changes nothing")
    verify.add_argument("chat", metavar="CHAT", nargs="?")
    verify.add_argument("--repair-index", action="store_true", help="throw the caches away and make them again first")
    verbs.add_parser("doctor", help="versions, folders, locks, disk space")
    for child in verbs.choices.values():
        _add_common(child, default=argparse.SUPPRESS)
        child.allow_abbrev = False
    return parser


def parse_options(arguments: Sequence[str], *, version: str) -> argparse.Namespace:
    """Raise `UsageError` for anything that cannot be meant; ``--help`` and ``--version`` print and raise `SystemExit`."""
    options, rest = _build(version).parse_known_args(list(arguments))
    dashes = rest.index("--") if "--" in rest else len(rest)
    if options.verb == "diff" and not any(word.startswith("-") and word != "-" for word in rest[:dashes]):
        # argparse takes a list of paths only where the first of them stands
        options.paths += [*rest[:dashes], *rest[dashes + 1 :]]
    elif rest:
        raise UsageError(f"unrecognized arguments: {' '.join(rest)}")
    if bool(options.vault) != bool(options.vault_workspace):
        raise UsageError("--vault and --workspace, before the verb, belong together")
    if options.verb == "record" and options.delete and options.mode is not None:
        raise UsageError("--delete and --mode exclude each other: a file that goes has no permissions")
    if options.verb == "turn":
        _check_turn(options)
    if options.verb == "prompt":
        _check_prompt(options)
    if options.verb and (options.offscreen_shot or options.open_chat or options.view or options.theme):
        raise UsageError("--offscreen-shot, --open, --view and --theme are for the window, not for a verb")
    return options


def _check_turn(options: argparse.Namespace) -> None:
    """What a turn was asked and what was answered is never dropped without a word; a hook may say the rest each time."""
    for name, edge in (("prompt", "begin"), ("answer", "end")):
        if getattr(options, name) is not None and options.edge != edge:
            raise UsageError(f"--{name} is for `turn CHAT {edge}`")


def _check_prompt(options: argparse.Namespace) -> None:
    """One word is what is said, two are the chat and what is said in it."""
    if len(options.words) > 2:
        raise UsageError("too many words: put quotes around TEXT")
    options.chat, options.text = (None, options.words[0]) if len(options.words) == 1 else options.words
    if not options.text.strip():
        raise UsageError("there is nothing to say")
    if options.chat is None and not (options.workspace or options.vault_workspace):
        raise UsageError("a new chat needs --workspace DIR")
    if options.chat is None and not (options.agent or options.agent_command):
        raise UsageError("a new chat needs --agent NAME or --agent-command CMD")
