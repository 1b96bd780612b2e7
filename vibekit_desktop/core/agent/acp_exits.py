"""How a command ended, from what an agent tells beside the words of a tool call: ACP itself has no place for it.

Some put a number into the call's raw output, or an object of it; some into its ``_meta``, as they would of a terminal of their
own; some only begin the words of a failure with it. Pure; any thread. Nothing here raises, whatever the JSON holds.
"""

import re

import msgspec

from vibekit_desktop.core.agent.acp_json import ABSENT

_LOWEST, _HIGHEST = -(1 << 31), (1 << 32) - 1
"""What systems tell: some count it with a sign, some without."""
_FIRST = 200
_WORDS = re.compile(rb'"(?:\s|\\n|Error: )*exit (?:code |status )(\d{1,5})\b', re.IGNORECASE)


class _Told(msgspec.Struct):
    """An object that may tell it; nothing of it is looked at yet."""

    exit_code: msgspec.Raw = ABSENT
    exit_camel: msgspec.Raw = msgspec.field(default=ABSENT, name="exitCode")
    exit: msgspec.Raw = ABSENT
    metadata: msgspec.Raw = ABSENT
    terminal_exit: msgspec.Raw = ABSENT


_told = msgspec.json.Decoder(_Told)
_whole = msgspec.json.Decoder(int)


def exit_code_of(raw_output: msgspec.Raw, meta: msgspec.Raw) -> int | None:
    """The status of a tool call's command; None if nobody says it."""
    of_terminal = _read(_read(meta).terminal_exit)
    output = _read(raw_output)
    for told in (of_terminal, output, _read(output.metadata)):
        for raw in (told.exit_code, told.exit_camel, told.exit):
            found = _number(raw)
            if found is not None:
                return found
    words = _WORDS.match(bytes(raw_output)[:_FIRST])
    return int(words[1]) if words else None


def _read(raw: msgspec.Raw) -> _Told:
    if not bytes(raw):
        return _Told()
    try:
        return _told.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return _Told()


def _number(raw: msgspec.Raw) -> int | None:
    if not bytes(raw):
        return None
    try:
        found = _whole.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    return found if _LOWEST <= found <= _HIGHEST else None
