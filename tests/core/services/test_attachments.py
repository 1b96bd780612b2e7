"""What goes with a prompt: files by path or with their text, images by their bytes; keys and what is no file never."""

from pathlib import Path

import pytest

from vibekit_desktop.core.agent.link import FilePart, Greeting, ImagePart, TextPart
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services import attachments
from vibekit_desktop.core.services.attachments import parts_of, stored
from vibekit_desktop.core.types.agent_errors import AttachmentRefused, EmptyPrompt
from vibekit_desktop.core.types.agents import Attachment, Prompt

ALL = Greeting(takes_images=True, takes_files=True)
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 10


def of(path: Path) -> Prompt:
    return Prompt(text="see", attachments=(Attachment(name=path.name, path=str(path)),))


def test_words_come_first_and_history_before_them(tmp_path: Path) -> None:
    parts = parts_of(Fs(), Prompt(text="now"), Greeting(), history="before\n")
    assert parts == [TextPart("before\n"), TextPart("now")]


def test_a_file_goes_by_its_path_and_with_its_text_where_that_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("hello")
    assert parts_of(Fs(), of(file), Greeting())[1] == FilePart(str(file))
    assert parts_of(Fs(), of(file), ALL)[1] == FilePart(str(file), "hello")
    file.write_bytes(b"\xff\xfe\x00binary")
    assert parts_of(Fs(), of(file), ALL)[1] == FilePart(str(file))
    file.write_bytes(b"x" * (attachments.TEXT_BYTES + 1))
    assert parts_of(Fs(), of(file), ALL)[1] == FilePart(str(file))


def test_an_image_is_known_by_its_bytes_not_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "shot.jpg"
    file.write_bytes(PNG)
    assert parts_of(Fs(), of(file), ALL)[1] == ImagePart("image/png", PNG)
    file.write_bytes(b"no image")
    with pytest.raises(AttachmentRefused) as raised:
        parts_of(Fs(), of(file), ALL)
    assert raised.value.reason == "not-regular"
    file.write_bytes(PNG)
    with pytest.raises(AttachmentRefused) as raised:
        parts_of(Fs(), of(file), Greeting())
    assert raised.value.reason == "no-images"


@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("gone.txt", "nothing", "missing"),
        ("folder", "folder", "not-regular"),
        ("pipe", "fifo", "not-regular"),
        ("id_rsa", "file", "secret"),
        (".netrc", "file", "secret"),
        ("large.png", "large", "too-large"),
    ],
)
def test_what_cannot_go_is_refused_with_its_reason(tmp_path: Path, name: str, make: str, reason: str) -> None:
    place = tmp_path / name
    match make:
        case "folder":
            place.mkdir()
        case "fifo":
            import os

            os.mkfifo(place)
        case "file":
            place.write_text("x")
        case "large":
            with place.open("wb") as file:
                file.truncate(attachments.IMAGE_BYTES + 1)
    with pytest.raises(AttachmentRefused) as raised:
        parts_of(Fs(), of(place), ALL)
    assert raised.value.reason == reason


def test_nothing_to_say_is_refused() -> None:
    with pytest.raises(EmptyPrompt):
        parts_of(Fs(), Prompt(text=" \n"), ALL)


def test_the_chat_keeps_names_and_never_bytes() -> None:
    (kept,) = stored([Attachment(name="shot.png", media_type="image/png", data=PNG)])
    assert (kept.name, kept.path, kept.media_type) == ("shot.png", "", "image/png")
