"""What the system asks of every window beside light or dark: reduced motion, high contrast. Followed while it changes.

Qt tells contrast (from 6.10 on); for motion each system is asked in its own way, and one that cannot be asked wants motion. UI
thread only.
"""

import ctypes
import sys

from PySide6.QtCore import SLOT, QObject, Slot
from PySide6.QtGui import QGuiApplication, QPalette

from vibekit_desktop.ui.theme.contrast import colours_of
from vibekit_desktop.ui.theme.palette import ThemeHub

_SERVICE = "org.freedesktop.portal.Desktop"
_PATH = "/org/freedesktop/portal/desktop"
_FACE = "org.freedesktop.portal.Settings"
_ASK_MS = 2000
_WISHES = {("org.freedesktop.appearance", "reduced-motion"), ("org.gnome.desktop.interface", "enable-animations")}
_CLIENT_AREA_ANIMATION = 0x1042  # SPI_GETCLIENTAREAANIMATION


def is_still(name: str, value: object) -> bool | None:
    """What a setting of the portal says of motion; None if it says nothing."""
    if name == "reduced-motion" and isinstance(value, int) and not isinstance(value, bool):
        return value == 1
    if name == "enable-animations" and isinstance(value, bool):
        return not value
    return None


class FollowSystem(QObject):
    """Keeps a hub as the system asks. Made once the window is shown: nobody waits for a bus before that. ``portal``: whether
    the desktop has a bus of this session, on which its settings can be asked for."""

    def __init__(self, hub: ThemeHub, *, portal: bool) -> None:
        super().__init__(hub)
        self._hub = hub
        self._said: dict[str, bool] = {}
        self._hints = QGuiApplication.styleHints()
        self._follow_contrast()
        if sys.platform == "win32":
            hub.set_still(_windows_is_still())
        elif sys.platform == "darwin":
            hub.set_still(_mac_is_still())
        elif portal:
            self._follow_portal()

    # Contrast.

    def _follow_contrast(self) -> None:
        if not hasattr(self._hints, "accessibility"):
            return
        self._accessibility = self._hints.accessibility()
        self._accessibility.contrastPreferenceChanged.connect(self._contrast_changed)
        self._hub.set_contrast(self._accessibility.contrastPreference().name == "HighContrast")

    def _contrast_changed(self) -> None:
        asked = self._accessibility.contrastPreference().name == "HighContrast"
        if asked:
            QGuiApplication.setPalette(QPalette())  # ours lies over the system's, which is what we want to know
        self._hub.set_contrast(asked, colours_of(QGuiApplication.palette()) if asked else None)

    # Motion, on desktops with a portal.

    def _follow_portal(self) -> None:
        from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCallWatcher

        bus = QDBusConnection.sessionBus()
        if not bus.isConnected():
            return
        slot = SLOT("setting_changed(QDBusMessage)")
        bus.connect(_SERVICE, _PATH, _FACE, "SettingChanged", self, slot)  # type: ignore[call-overload]  # it takes text
        for space, name in sorted(_WISHES):
            message = QDBusMessage.createMethodCall(_SERVICE, _PATH, _FACE, "ReadOne")
            message.setArguments([space, name])
            watcher = QDBusPendingCallWatcher(bus.asyncCall(message, _ASK_MS), self)
            watcher.finished.connect(lambda done, name=name: self._answered(name, done))

    def _answered(self, name: str, watcher: QObject) -> None:
        reply = watcher.reply()  # type: ignore[attr-defined]  # a QDBusPendingCallWatcher, whose module is loaded late
        arguments = reply.arguments()
        if arguments:
            self._say(name, arguments[0])
        watcher.deleteLater()

    @Slot("QDBusMessage")
    def setting_changed(self, message: object) -> None:
        """The portal says that a setting is another one."""
        arguments = message.arguments()  # type: ignore[attr-defined]  # as above
        if len(arguments) == 3 and (arguments[0], arguments[1]) in _WISHES:
            self._say(str(arguments[1]), arguments[2])

    def _say(self, name: str, value: object) -> None:
        if hasattr(value, "variant"):
            value = value.variant()
        still = is_still(name, value)
        if still is not None:
            self._said[name] = still
            self._hub.set_still(any(self._said.values()))


def _windows_is_still() -> bool:
    wanted = ctypes.c_int(1)
    windows = getattr(ctypes, "windll", None)
    asked = windows is not None and windows.user32.SystemParametersInfoW(_CLIENT_AREA_ANIMATION, 0, ctypes.byref(wanted), 0)
    return bool(asked) and not wanted.value


def _mac_is_still() -> bool:
    try:
        ctypes.CDLL("/System/Library/Frameworks/AppKit.framework/AppKit")
        objc = ctypes.CDLL("/usr/lib/libobjc.dylib")
    except OSError:
        return False
    objc.objc_getClass.restype = objc.sel_registerName.restype = ctypes.c_void_p
    objc.objc_getClass.argtypes = objc.sel_registerName.argtypes = [ctypes.c_char_p]
    send = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(("objc_msgSend", objc))
    ask = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)(("objc_msgSend", objc))
    workspace = send(objc.objc_getClass(b"NSWorkspace"), objc.sel_registerName(b"sharedWorkspace"))
    return bool(ask(workspace, objc.sel_registerName(b"accessibilityDisplayShouldReduceMotion")))
