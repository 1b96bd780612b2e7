"""A screen of the test's own, and what stands on it: Xvfb, asked and told through libX11 itself.

Only what the tests of the real window need: find a window by its title, press a key in it, ask it to close.
"""

import ctypes
import ctypes.util
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char_p, c_int, c_long, c_uint, c_ulong, c_void_p
from functools import lru_cache
from pathlib import Path

import PySide6

KEY_PRESS, KEY_RELEASE, CLIENT_MESSAGE = 2, 3, 33
_START_LIMIT_S = 30


class _KeyEvent(ctypes.Structure):
    """XKeyEvent."""

    _fields_ = (
        ("type", c_int),
        ("serial", c_ulong),
        ("send_event", c_int),
        ("display", c_void_p),
        ("window", c_ulong),
        ("root", c_ulong),
        ("subwindow", c_ulong),
        ("time", c_ulong),
        ("x", c_int),
        ("y", c_int),
        ("x_root", c_int),
        ("y_root", c_int),
        ("state", c_uint),
        ("keycode", c_uint),
        ("same_screen", c_int),
    )


class _ClientMessage(ctypes.Structure):
    """XClientMessageEvent with data as longs."""

    _fields_ = (
        ("type", c_int),
        ("serial", c_ulong),
        ("send_event", c_int),
        ("display", c_void_p),
        ("window", c_ulong),
        ("message_type", c_ulong),
        ("format", c_int),
        ("data", c_long * 5),
    )


class _Event(ctypes.Union):
    """XEvent."""

    _fields_ = (("key", _KeyEvent), ("message", _ClientMessage), ("pad", c_long * 24))


@lru_cache
def why_not() -> str:
    """Why there can be no window on a screen here; empty if there can."""
    if shutil.which("Xvfb") is None:
        return "Xvfb is not installed"
    if ctypes.util.find_library("X11") is None:
        return "libX11 is not installed"
    plugin = Path(PySide6.__file__).parent / "Qt" / "plugins" / "platforms" / "libqxcb.so"
    load = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    tried = subprocess.run([sys.executable, "-c", load, str(plugin)], capture_output=True, text=True, check=False)
    return "" if tried.returncode == 0 else "Qt cannot use X11: " + tried.stderr.strip().rpartition("\n")[2]


class Screen:
    """One X server and a connection to it."""

    def __init__(self, name: str) -> None:
        self.name = name
        x = ctypes.CDLL(ctypes.util.find_library("X11"))
        for function, result, arguments in (
            ("XOpenDisplay", c_void_p, (c_char_p,)),
            ("XCloseDisplay", c_int, (c_void_p,)),
            ("XDefaultRootWindow", c_ulong, (c_void_p,)),
            ("XQueryTree", c_int, (c_void_p, c_ulong, POINTER(c_ulong), POINTER(c_ulong), POINTER(POINTER(c_ulong)),
                                   POINTER(c_uint))),
            ("XGetWindowProperty", c_int, (c_void_p, c_ulong, c_ulong, c_long, c_long, c_int, c_ulong, POINTER(c_ulong),
                                           POINTER(c_int), POINTER(c_ulong), POINTER(c_ulong), POINTER(c_char_p))),
            ("XFree", c_int, (c_void_p,)),
            ("XSendEvent", c_int, (c_void_p, c_ulong, c_int, c_long, POINTER(_Event))),
            ("XSetInputFocus", c_int, (c_void_p, c_ulong, c_int, c_ulong)),
            ("XInternAtom", c_ulong, (c_void_p, c_char_p, c_int)),
            ("XStringToKeysym", c_ulong, (c_char_p,)),
            ("XKeysymToKeycode", ctypes.c_ubyte, (c_void_p, c_ulong)),
            ("XSync", c_int, (c_void_p, c_int)),
            ("XGetImage", c_void_p, (c_void_p, c_ulong, c_int, c_int, c_uint, c_uint, c_ulong, c_int)),
            ("XGetPixel", c_ulong, (c_void_p, c_int, c_int)),
            ("XDestroyImage", c_int, (c_void_p,)),
        ):  # fmt: skip
            getattr(x, function).restype = result
            getattr(x, function).argtypes = arguments
        self._x = x
        self._display = x.XOpenDisplay(name.encode())
        assert self._display, "the X server does not answer"
        self._root: int = x.XDefaultRootWindow(self._display)

    def close(self) -> None:
        self._x.XCloseDisplay(self._display)

    def titles(self) -> dict[int, str]:
        """Every window that stands on the screen itself, and its title."""
        root, parent, children, count = c_ulong(), c_ulong(), POINTER(c_ulong)(), c_uint()
        self._x.XQueryTree(self._display, self._root, byref(root), byref(parent), byref(children), byref(count))
        found: dict[int, str] = {}
        for window in children[: count.value]:
            title = self._title(window)
            if title:
                found[window] = title
        if count.value:
            self._x.XFree(children)
        return found

    def _title(self, window: int) -> str:
        """_NET_WM_NAME, in UTF-8."""
        kind, form, length, rest, text = c_ulong(), c_int(), c_ulong(), c_ulong(), c_char_p()
        name = self._x.XInternAtom(self._display, b"_NET_WM_NAME", 0)
        self._x.XGetWindowProperty(
            self._display, window, name, 0, 256, 0, 0, byref(kind), byref(form), byref(length), byref(rest), byref(text)
        )
        found = (text.value or b"").decode("utf-8", "replace")
        if text:
            self._x.XFree(text)
        return found

    def pixel(self, window: int, x: int, y: int) -> int:
        """The colour at a place of a window, as 0xRRGGBB."""
        image = self._x.XGetImage(self._display, window, x, y, 1, 1, c_ulong(-1).value, 2)
        assert image, "there is no such place in the window"
        found: int = self._x.XGetPixel(image, 0, 0)
        self._x.XDestroyImage(image)
        return found & 0xFFFFFF

    def press(self, window: int, key: str, *, control: bool = False) -> None:
        """Press and release a key, by its X name, in a window."""
        self._x.XSetInputFocus(self._display, window, 1, 0)
        code = self._x.XKeysymToKeycode(self._display, self._x.XStringToKeysym(key.encode()))
        for kind, mask in ((KEY_PRESS, 1), (KEY_RELEASE, 2)):
            event = _Event()
            event.key = _KeyEvent(type=kind, display=self._display, window=window, root=self._root, keycode=code, same_screen=1)
            event.key.state = 4 if control else 0
            self._x.XSendEvent(self._display, window, 1, mask, byref(event))
        self._x.XSync(self._display, 0)

    def ask_to_close(self, window: int) -> None:
        """What the window manager does when somebody presses the cross."""
        event = _Event()
        event.message = _ClientMessage(
            type=CLIENT_MESSAGE,
            display=self._display,
            window=window,
            message_type=self._x.XInternAtom(self._display, b"WM_PROTOCOLS", 0),
            format=32,
        )
        event.message.data[0] = self._x.XInternAtom(self._display, b"WM_DELETE_WINDOW", 0)
        self._x.XSendEvent(self._display, window, 0, 0, byref(event))
        self._x.XSync(self._display, 0)


@contextmanager
def screen() -> Iterator[Screen]:
    """A screen that nobody else uses."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1600x1000x24", "-nolisten", "tcp"],
        pass_fds=(writing,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        ready, _, _ = select.select([reading], [], [], _START_LIMIT_S)
        number = os.read(reading, 16).decode().strip() if ready else ""
        assert number, "Xvfb did not start"
        made = Screen(f":{number}")
        yield made
        made.close()
    finally:
        os.close(reading)
        server.terminate()
        server.wait(10)
