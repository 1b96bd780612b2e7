"""Whether the command that an agent starts is the one that it was allowed, though it may be spelled otherwise. Pure.

An agent asks for ``npm test`` and starts ``/bin/sh -c 'npm test'``, or ``npm`` with the argument ``test``. What a shell would
read differently because of the quotes is another command. Any thread.
"""

import re
import shlex
from collections.abc import Sequence

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
_SHELL_FOLDERS = frozenset({"/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"})
_MEANS_MORE = re.compile(r"[$`\\!*?\[\]{}~<>|&;()#\n=^%]")
"""Signs that a shell reads differently with and without quotes."""
_LINE_OPTION = re.compile(r"-[a-z]*c")
_OTHER_OPTION = re.compile(r"-[lieux]+|--(login|norc|noprofile|posix)")


def shown(command: str, args: Sequence[str]) -> str:
    """A command as one text: a line of a shell as it is, a program with its arguments quoted where they need it."""
    if not args:
        return line(command)
    given = _line_of([command, *args])
    return shlex.join([command, *args]) if given is None else given.strip()


def same(asked: str, command: str, args: Sequence[str]) -> bool:
    """Whether ``asked`` is what starting ``command`` with ``args`` does; without ``args`` the command is a line of a shell."""
    wanted = line(asked)
    if not args:
        return _same_lines(wanted, line(command))
    given = _line_of([command, *args])
    if given is not None:
        return _same_lines(wanted, given.strip())
    try:
        words = shlex.split(wanted)
    except ValueError:
        return False
    return words == [command, *args]


def _same_lines(one: str, other: str) -> bool:
    if one == other:
        return True
    if _MEANS_MORE.search(one) or _MEANS_MORE.search(other):
        return False
    try:
        return shlex.split(one) == shlex.split(other) != []
    except ValueError:
        return False


def line(text: str) -> str:
    """The line that a text gives to a shell, if that is all that it does; else the text."""
    text = text.strip()
    try:
        words = shlex.split(text)
    except ValueError:
        return text
    given = _line_of(words)
    return text if given is None or not _is_only_words(text) else given.strip()


def _is_only_words(text: str) -> bool:
    """Whether a text is words and nothing that a shell would do beside: all that means more is inside of quotes."""
    outside = re.sub(r"'[^']*'", "", text)
    outside = re.sub(r'"[^"$`\\!]*"', "", outside)
    return not _MEANS_MORE.search(outside) and '"' not in outside and "'" not in outside


def _line_of(words: Sequence[str]) -> str | None:
    """The line that these words give to a shell, if they start one and nothing else."""
    folder, _, name = words[0].rpartition("/") if words else ("", "", "")
    if name not in _SHELLS or (folder and folder not in _SHELL_FOLDERS) or (words[0].startswith("/") and not folder):
        return None
    for at, word in enumerate(words[1:], 1):
        if _LINE_OPTION.fullmatch(word):
            return words[at + 1] if len(words) == at + 2 else None
        if not _OTHER_OPTION.fullmatch(word):
            return None
    return None
