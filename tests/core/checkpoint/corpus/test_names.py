"""Names of every kind that a disk can hold: edited, deleted, made, and as folders."""

import os
import unicodedata

import pytest

from tests.core.checkpoint.corpus.bench import Bench, Hand, picture
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.types.errors import PathRefused
from vibekit_desktop.core.types.ids import WorkspacePath

ACCENTED = "r\u00e9sum\u00e9 \u00c5"
NAMES = {
    "spaces": "a name with  spaces",
    "a leading dash": "-rf",
    "two leading dashes": "--force",
    "a leading space": " leading",
    "a hidden file": ".hidden",
    "a home folder's sign": "~",
    "quotes": "it's \u201cquoted\u201d",
    "a shell's words": "$HOME;touch &(x)",
    "a format string": "%s%n{0}",
    "a percent escape": "a%2Fb",
    "brackets that globs know": "[a-z]!",
    "composed letters": unicodedata.normalize("NFC", ACCENTED),
    "letters and their accents apart": unicodedata.normalize("NFD", ACCENTED),
    "Chinese, Arabic, Hebrew": "\u6587\u4ef6 \u0645\u0644\u0641 \u05e7\u05d5\u05d1\u05e5",
    "a picture": "\U0001f600",
    "a family of joined pictures": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "a sign that turns the writing round": "a\u202eb",
    "a line separator of Unicode": "a\u2028b\u0085c",
    "bytes that are no UTF-8": os.fsdecode(b"caf\xe9"),
    "bytes of GB18030": os.fsdecode("\u6587\u4ef6".encode("gb18030")),
    "half of a surrogate pair, as bytes": os.fsdecode(b"\xed\xa0\xbd"),
    "250 bytes": "n" * 250,
    "255 bytes": "n" * 255,
    "250 bytes in letters of three bytes": "\u6587" * 83 + "a",
    "a name like that of our temporary files": ".vibekit-temp-abc",
    "nearly the name of a stage": "a.vibekit-restore-x",
    "nearly git": ".gitfoo",
}
RESERVED = {
    "a newline": "two\nlines",
    "a newline at the end": "end\n",
    "a tab and an escape": "a\tb\x1b[31m",
    "a backslash": "back\\slash",
    "a colon": "c:d",
    "a question mark and a star": "what?*",
    "a trailing space": "trailing ",
    "a trailing dot": "trailing.",
    "nul": "nul",
    "a device with an extension": "aux.c",
    "a device in capitals": "COM1",
}


def _is_text(name: str) -> bool:
    return name.encode("utf-8", "replace") == os.fsencode(name)


@pytest.mark.parametrize("name", [*NAMES.values(), *RESERVED.values()], ids=[*NAMES, *RESERVED])
def test_a_name(either: Bench, name: str) -> None:
    """As a file that is edited, one that is deleted, one that gets another name, one that comes, and as a folder."""
    either.seed({name: b"0", f"gone/{name}": b"1", f"folder/{name}/{name}": b"2", f"move/{name}": b"3", "kept": b"k"})
    told = {name: "M", f"gone/{name}": "D", f"folder/{name}/{name}": "M"}
    # A line has no room for an old name that is no text.
    told |= {"moved": "R"} if _is_text(name) else {"moved": "A", f"move/{name}": "D"}
    with either.turn():
        either.write(name, b"edited")
        either.write(f"gone/{name}", None)
        either.write(f"folder/{name}/{name}", b"edited")
        either.move(f"move/{name}", "moved")
        if name in NAMES.values():
            either.write(f"new/{name}/{name}", b"4")
            told[f"new/{name}/{name}"] = "A"
    either.tells(told)
    either.goes_back_and_forth()


@pytest.mark.parametrize("name", RESERVED.values(), ids=RESERVED)
def test_a_name_that_some_system_cannot_have_and_that_a_shell_makes(shell: Bench, name: str) -> None:
    """What is here may be made here: it goes, and comes back by undo."""
    shell.seed({"kept": b"k"})
    shell.whole_way(lambda one: (one.write(name, b"1"), one.write(f"{name}x/f", b"2")), {name: "A", f"{name}x/f": "A"})


@pytest.mark.parametrize("name", RESERVED.values(), ids=RESERVED)
def test_a_name_that_some_system_cannot_have_is_not_made_for_an_agent(hooked: Bench, name: str) -> None:
    hooked.hooks.begin()
    for data in (Announced(content=b"1"), Announced()):
        with pytest.raises(PathRefused):
            hooked.world.kernel.recorder.capture("chat-a", WorkspacePath(name), data, message_count=1)
    hooked.hooks.end()
    assert hooked.world.disk() == {}


def test_both_normal_forms_of_a_name_are_two_files(bench: Bench) -> None:
    composed, apart = unicodedata.normalize("NFC", ACCENTED), unicodedata.normalize("NFD", ACCENTED)
    bench.seed({composed: b"one", apart: b"two"})
    if len(os.listdir(bench.root)) < 2:
        pytest.skip("this disk takes both forms for one name")
    bench.whole_way(lambda one: (one.write(composed, b"1"), one.write(apart, None)), {composed: "M", apart: "D"})


def test_capitals_and_small_letters_are_two_files(bench: Bench) -> None:
    bench.seed({"Name": b"one", "name": b"two"})
    if len(os.listdir(bench.root)) < 2:
        pytest.skip("this disk takes both for one name")
    bench.whole_way(lambda one: (one.write("Name", b"1"), one.write("name", None)), {"Name": "M", "name": "D"})


def test_a_path_as_long_as_paths_may_be(either: Bench) -> None:
    room = 4000 - len(os.fsencode(either.root))
    deep = "/".join(["d" * 99] * (room // 100))
    either.seed({f"{deep}/f": b"0"})
    told = {f"{deep}/f": "M", f"{deep}/g": "A"}
    either.whole_way(lambda one: (one.write(f"{deep}/f", b"1"), one.write(f"{deep}/g", b"2")), told)


@pytest.mark.parametrize("name", [".git", ".GIT", "sub/.git", ".g\u200cit", "git~1", ".git "])
def test_the_insides_of_git_are_never_ours(either: Bench, name: str) -> None:
    either.seed({f"{name}/config": b"[core]\n", "f": b"0"})
    seed = picture(either.root, git=True)
    with either.turn():
        if either.hand is Hand.ANNOUNCED:
            with pytest.raises(PathRefused):
                either.write(f"{name}/config", b"x")
        either.world.write(f"{name}/config", b"[core]\n\tbare = true\n")
        either.world.write(f"{name}/hooks/post-checkout", b"#!/bin/sh\n")
        either.write("f", b"1")
    assert {change.path for change in either.row().files} == {"f"}
    after = picture(either.root, git=True)
    either.restore()
    assert either.world.read("f") == b"0"
    left = {path for path, thing in picture(either.root, git=True).items() if seed.get(path) != thing}
    assert left == {path for path, thing in after.items() if seed.get(path) != thing and path != b"f"}
