"""Read ACP's JSON value by value: what one of them has wrong hides no other.

Pure; any thread. Nothing here raises, whatever the JSON holds, and every list is cut at a length that no honest agent reaches.
"""

from collections.abc import Iterator, Mapping

import msgspec

Json = Mapping[str, object]

SMALL_BYTES = 1 << 20
"""Of lists and objects that are read whole: building them holds up every thread."""
MOST = 1000
LARGEST_NUMBER = (1 << 63) - 1
ABSENT = msgspec.Raw(b"")
_text = msgspec.json.Decoder(str)


def text_of(raw: msgspec.Raw) -> str | None:
    """A text; bytes in it that are none are replaced. None if it is no text."""
    data = bytes(raw)
    if not data.startswith(b'"'):
        return None
    try:
        return _text.decode(data)
    except msgspec.DecodeError:
        pass
    try:
        return _text.decode(data.decode("utf-8", "replace"))
    except msgspec.DecodeError:
        return None


def small(raw: msgspec.Raw, limit: int = SMALL_BYTES) -> object:
    """Any JSON that is not too large to be read whole; None for other."""
    data = bytes(raw)
    if not data or len(data) > limit:
        return None
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None


def words(of: object, name: str) -> str:
    """A text of an object; empty if there is none."""
    value = of.get(name) if isinstance(of, dict) else None
    return value if isinstance(value, str) else ""


def under(of: object, name: str) -> Json:
    """An object inside of an object; empty if there is none."""
    value = of.get(name) if isinstance(of, dict) else None
    return value if isinstance(value, dict) else {}


def entries(of: object, name: str) -> Iterator[Json]:
    """The objects of a list inside of an object, the first of them."""
    value = of.get(name) if isinstance(of, dict) else None
    if isinstance(value, list):
        yield from (entry for entry in value[:MOST] if isinstance(entry, dict))


def number(of: object, name: str) -> int:
    """A whole number that is not negative; 0 if there is none."""
    value = of.get(name) if isinstance(of, dict) else None
    if isinstance(value, float) and value == value and abs(value) < LARGEST_NUMBER:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return min(max(value, 0), LARGEST_NUMBER)
