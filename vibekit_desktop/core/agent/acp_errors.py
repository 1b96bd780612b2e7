"""What the errors mean that an agent answers with. Pure; any thread."""

import re

from vibekit_desktop.core.agent.acp_json import words

NOT_SIGNED_IN = -32000
_SIGN_IN_WORDS = re.compile(
    r"authentication (is )?required|not (logged|signed) in|please (log|sign) ?in|(run|use) \S+ (auth )?login|/login"
    r"|(missing|invalid|no) api key|api key (is )?(missing|invalid|not (set|configured))|unauthori[sz]ed",
    re.IGNORECASE,
)
_SAID_CHARACTERS = 2000


def error_words(message: str, data: object) -> str:
    """What an error says, with what it says beside it, cut to a length for people."""
    more = (
        data
        if isinstance(data, str)
        else next((words(data, key) for key in ("details", "message", "reason") if words(data, key)), "")
    )
    said = message if not more or more in message else f"{message}: {more}"
    return said[:_SAID_CHARACTERS]


def wants_sign_in(code: int, said: str) -> bool:
    """Whether an error means that somebody has to sign in first."""
    return code == NOT_SIGNED_IN or _SIGN_IN_WORDS.search(said) is not None
