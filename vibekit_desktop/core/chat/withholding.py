"""Leave things out of what is exported: what commands printed, and what looks like a secret.

Works on the objects that are written, so that every format says the same. What looks like a secret is found by the forms that
keys and tokens have, and by names such as ``password`` before a value with a figure in it; a secret of another form stays.
Pure; any thread.
"""

import re
from collections.abc import Mapping

import msgspec

from vibekit_desktop.core.types.chats import COMMAND_KINDS, Message, Withheld

LEFT_OUT = "[left out]"
MASKED = "[masked]"
_NAMES = "password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential"
_WHOLE = re.compile(
    "|".join(
        (
            r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----BEGIN)[\s\S]){0,20000}?-----END [A-Z ]{0,40}PRIVATE KEY-----",
            r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{20,}",
            r"\bgh[pousr]_[A-Za-z0-9]{20,}",
            r"\bgithub_pat_[A-Za-z0-9_]{20,}",
            r"\bglpat-[A-Za-z0-9_-]{16,}",
            r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
            r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
            r"\bAIza[A-Za-z0-9_-]{30,}",
            r"\b(?:hf|npm)_[A-Za-z0-9]{20,}",
            r"\bpypi-[A-Za-z0-9_-]{40,}",
            r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        )
    )
)
_SENT = re.compile(r"(?i)(authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:bearer|basic|token)\s{1,4})[^\s\"']{8,}")
_ADDRESS = re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,100}:)[^\s@/]{1,200}(?=@)", re.IGNORECASE)
_NAMED = re.compile(
    rf"(?i)((?<![\w.-])[\w.-]{{0,64}}(?:{_NAMES})[\w-]{{0,32}}[\"']?\s{{0,8}}[:=]\s{{0,8}}[\"']?)"
    r"(?=[^\s\"',;()]{0,199}[0-9])([^\s\"',;()]{8,200})(?![(\w])"
)


def masked(text: str) -> str:
    """The text with `MASKED` for everything in it that looks like a secret."""
    text = _WHOLE.sub(MASKED, text)
    for form in (_SENT, _ADDRESS, _NAMED):
        text = form.sub(rf"\g<1>{MASKED}", text)
    return text


def withhold(value: object, what: Withheld) -> object:
    """An object as it is written, or a part of one, without what is to be left out."""
    match value:
        case str() if what.secrets:
            return masked(value)
        case list():
            return [withhold(item, what) for item in value]
        case dict():
            return {key: withhold(item, what) for key, item in _without_output(value, what).items()}
        case _:
            return value


def _without_output(value: Mapping[object, object], what: Withheld) -> Mapping[object, object]:
    if what.output and value.get("kind") in COMMAND_KINDS and value.get("output"):
        return {**value, "output": LEFT_OUT}
    return value


def withhold_messages(messages: tuple[Message, ...], what: Withheld) -> tuple[Message, ...]:
    """The same of messages that were read."""
    written = withhold(msgspec.json.decode(msgspec.json.encode(messages)), what)
    return msgspec.json.decode(msgspec.json.encode(written), type=tuple[Message, ...])
