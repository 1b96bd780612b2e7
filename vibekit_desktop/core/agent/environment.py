"""What an agent's process is told of ours: an allow-list, so that it gets neither our libraries nor others' secrets.

Pure; any thread.
"""

import os
import sys
from collections.abc import Mapping, Sequence

ALLOWED = frozenset(
    {
        # Who and where the user is.
        "HOME", "USER", "LOGNAME", "SHELL", "PATH", "TERM", "COLORTERM", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP",
        "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_DIRS",
        "XDG_DATA_DIRS", "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE",
        # An agent that lets its user sign in opens the browser.
        "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "BROWSER",
        # What it runs fetches and pushes as the user does in a terminal.
        "SSH_AUTH_SOCK", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy",
        "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
        # Without these nothing starts on Windows.
        "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH",
        "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "ALLUSERSPROFILE",
        "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
    }
)  # fmt: skip


def child_environment(
    base: Mapping[str, str], *, passing: Sequence[str] = (), extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The whole environment of an agent: what is allowed of ``base``, the variables of it named in ``passing``, and ``extra``
    over both.

    ``PATH`` leads nowhere that depends on the current folder, which is the workspace, and not into our own bundle.
    """
    names = {*passing, *(name for name in base if _key(name) in ALLOWED or name.startswith("LC_"))}
    env = {name: base[name] for name in names if name in base}
    for name in names:
        # A bundle points these at its own libraries and keeps the user's value beside.
        if f"{name}_ORIG" in base:
            env[name] = base[f"{name}_ORIG"]
    ours = _bundle(base)
    for name in [name for name in env if _key(name) == "PATH"]:
        env[name] = os.pathsep.join(folder for folder in env[name].split(os.pathsep) if _usable(folder, ours))
    return env | dict(extra or {})


def _key(name: str) -> str:
    """Windows spells them as it likes."""
    return name.upper() if sys.platform == "win32" else name


def _bundle(base: Mapping[str, str]) -> tuple[str, ...]:
    """The folders that our own program was unpacked into, if it was."""
    unpacked = getattr(sys, "_MEIPASS", "") if getattr(sys, "frozen", False) else ""
    return tuple(os.path.normpath(folder) for folder in (base.get("APPDIR", ""), unpacked) if os.path.isabs(folder))


def _usable(folder: str, ours: Sequence[str]) -> bool:
    if not os.path.isabs(folder):
        return False
    folder = os.path.normpath(folder)
    return not any(folder == mine or folder.startswith(mine + os.sep) for mine in ours)
