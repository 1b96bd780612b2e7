"""Contents of every kind: what is stored is bytes, and no filter, encoding or line end is ever applied to them."""

import os

import pytest

from tests.core.checkpoint.corpus.bench import Bench
from vibekit_desktop.core.checkpoint.blobs import hash_of

TEXT = "eins\nzwei\r\n\u6587\u4ef6 \u00e4\n"
CONTENTS = {
    "line feeds": b"a\nb\n",
    "carriage returns and line feeds": b"a\r\nb\r\n",
    "carriage returns": b"a\rb\r",
    "mixed endings": b"a\nb\r\nc\rd",
    "no line end at the end": b"a\nb",
    "UTF-8 with a byte order mark": TEXT.encode("utf-8-sig"),
    "UTF-16": TEXT.encode("utf-16"),
    "UTF-16 without a mark": TEXT.encode("utf-16-be"),
    "UTF-32": TEXT.encode("utf-32"),
    "GB18030": TEXT.encode("gb18030"),
    "Latin-1": "\u00e4\u00f6\u00fc\n".encode("latin-1"),
    "invalid UTF-8": b"\xff\xfe\xfd \xc3\x28 \xed\xa0\x80\n",
    "the replacement character": "\ufffd\ufffd\n".encode(),
    "NUL bytes": b"\0a\0\0\n\0",
    "a NUL byte late": b"text\n" * 3000 + b"\0",
    "every byte": bytes(range(256)) * 3,
    "nothing": b"",
    "one line feed": b"\n",
    "separators of Unicode": "a\u2028b\u2029c\u0085d\x0b\x0c\x1c\n".encode(),
    "what git keeps instead of large files": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    "marks of a conflict": b"<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n",
    "keywords that tools fill in": b"$Id$ $Revision: 1 $ %D%\n",
    "no compression": os.urandom(5000),
    "the most that a look keeps a copy of": b"x" * (1 << 20),
}


@pytest.mark.parametrize("data", CONTENTS.values(), ids=CONTENTS)
def test_a_content_is_its_bytes(either: Bench, data: bytes) -> None:
    other = b"something else\n"
    either.seed({"edited": data, "deleted": data, "into": other})
    with either.turn():
        either.write("made", data)  # before the other goes: a file that takes over its inode and bytes is that file
        either.write("edited", other)
        either.write("deleted", None)
        either.write("into", data)
    either.tells({"edited": "M", "deleted": "D", "into": "M", "made": "A"})
    states = {change.path: change for change in either.row().files}
    assert {states["edited"].before.sha, states["deleted"].before.sha, states["into"].after.sha, states["made"].after.sha} == {
        hash_of(data)
    }
    either.goes_back_and_forth()


PAIRS = {
    "only the line ends": (b"a\nb\n", b"a\r\nb\r\n"),
    "only the last line end": (b"a\nb\n", b"a\nb"),
    "only the byte order mark": (b"a\n", b"\xef\xbb\xbfa\n"),
    "only the encoding": (TEXT.encode("utf-8"), TEXT.encode("utf-16")),
    "GB18030 to UTF-8 and no other sign": (TEXT.encode("gb18030"), TEXT.encode("utf-8")),
    "only a blank": (b"a \n", b"a\n"),
    "only a normal form": ("\u00e4".encode(), "a\u0308".encode()),
    "bytes to the signs that stand for them": (b"\xff\xfe", "\ufffd\ufffd".encode()),
    "everything to nothing": (b"content\n", b""),
}


@pytest.mark.parametrize(("old", "new"), PAIRS.values(), ids=PAIRS)
def test_a_difference_that_a_reader_may_not_see_is_one(either: Bench, old: bytes, new: bytes) -> None:
    either.seed({"f": old})
    either.whole_way(lambda one: one.write("f", new), {"f": "M"})


def test_an_empty_file_and_no_file_are_two_things(either: Bench) -> None:
    either.seed({"empty": b"", "full": b"1"})
    with either.turn():
        either.write("new", b"")
        either.write("empty", None)
        either.write("full", b"")
    either.tells({"empty": "D", "full": "M", "new": "A"})
    either.goes_back_and_forth()


def test_attributes_and_settings_of_editors_convert_nothing(either: Bench) -> None:
    """Whatever these files ask for is for git and editors; our bytes pass them by."""
    either.seed(
        {
            ".gitattributes": b"* text=auto eol=crlf\n*.txt filter=lfs working-tree-encoding=UTF-16 ident\n",
            ".editorconfig": b"[*]\nend_of_line = crlf\ninsert_final_newline = true\n",
            "a.txt": b"a\nb $Id$",
        }
    )
    either.whole_way(lambda one: one.write("a.txt", b"a\r\n$Id$"), {"a.txt": "M"})
