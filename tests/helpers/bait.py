"""Traps for text that loads something: files that nobody may open, an address that nobody may ask, a browser that nobody may
start. Linux only: the kernel tells of every file that is opened, whoever opens it (Qt opens files without asking Python)."""

import ctypes
import os
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QColor, QDesktopServices, QImage

_IN_OPEN = 0x20
_HEAD = struct.Struct("iIII")
_SCHEMES = ("file", "http", "https", "javascript", "data", "smb", "ftp", "vscode", "mailto")


class Doors(QObject):
    """Stands in the place of everything that opens an address."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        """Somebody wanted to open an address."""
        self.opened.append(url.toString())


@dataclass
class Bait:
    """``folder`` holds files that nobody may open; ``address`` is that of a server that nobody may ask."""

    folder: Path
    address: str
    doors: Doors
    asked: list[str] = field(default_factory=list)
    watch: int = -1

    def opened(self) -> list[str]:
        """The files that were opened since the last time, by whoever in this machine."""
        found: list[str] = []
        while True:
            try:
                events = os.read(self.watch, 65536)
            except BlockingIOError:
                return found
            place = 0
            while place < len(events):
                _, mask, _, length = _HEAD.unpack_from(events, place)
                name = events[place + _HEAD.size : place + _HEAD.size + length].rstrip(b"\0")
                if mask & _IN_OPEN and name:
                    found.append(name.decode())
                place += _HEAD.size + length

    def texts(self) -> list[str]:
        """What an attacker would write, each in one line."""
        picture, page, style = (str(self.folder / name) for name in ("pixel.png", "page.html", "style.css"))
        web = f"{self.address}/pixel.png"
        return [
            f'<img src="{picture}">',
            f"<img src='file://{picture}' width=400 height=400>",
            f'<img src="{web}">',
            f'<link rel="stylesheet" href="{style}">',
            f'<style>@import url("file://{style}"); body {{ background: url("{picture}") }}</style>',
            f'<body background="{picture}">',
            f'<table background="file://{picture}"><tr><td>in</td></tr></table>',
            f'<p style="background-image: url({picture})">in</p><ul style="list-style-image: url({picture})"><li>in</ul>',
            '<img src=":/qt-project.org/styles/commonstyle/images/standardbutton-apply-32.png"><img src="qrc:/x.png">',
            f"![picture]({picture})",
            f"![picture](file://{picture})",
            f"![picture]({web})",
            f"[![picture]({picture})](file://{page})",
            f'<a href="file://{page}">Undo</a> <script>location = "file://{page}"</script>',
            f"<iframe src='{page}'></iframe><object data='file://{page}'></object>",
            "\x1b[31mred\x1b[0m \x1b]0;another title\x07 \x1b]8;;file:///etc/passwd\x07link\x1b]8;;\x07 "
            "\x1b]52;c;c3RvbGVu\x07 \x9b31m",
            "\u202egnp.exe\u202c \u2066hidden\u2069 zero\u200bwidth \u00ad \ufeff \U000e0041",
        ]


@contextmanager
def baited(folder: Path) -> Iterator[Bait]:
    """Lay the traps, and take them away."""
    folder.mkdir()
    picture = QImage(8, 8, QImage.Format.Format_RGB32)
    picture.fill(QColor("red"))
    assert picture.save(str(folder / "pixel.png"), "PNG")
    (folder / "page.html").write_text("<h1>another page</h1>")
    (folder / "style.css").write_text("* { color: red }")
    doors = Doors()
    for scheme in _SCHEMES:
        QDesktopServices.setUrlHandler(scheme, doors, "open")
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the library's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    assert watch >= 0
    assert libc.inotify_add_watch(watch, os.fsencode(folder), _IN_OPEN) >= 0
    try:
        yield Bait(folder, f"http://127.0.0.1:{server.server_port}", doors, asked, watch)
    finally:
        os.close(watch)
        for scheme in _SCHEMES:
            QDesktopServices.unsetUrlHandler(scheme)
        server.shutdown()
        server.server_close()
        thread.join()
