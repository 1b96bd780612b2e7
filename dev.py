"""Set up, run, test and check VibeKit Desktop from a checkout: standard library only, no installation needed first.

    python3 dev.py run [ARGS...]         start the program (sets up .venv the first time)
    python3 dev.py test [PYTEST ARGS]    set everything up and run every check and test; with arguments, only pytest with them
    python3 dev.py check                 the same checks, without installing system packages
    python3 dev.py bench [NAME...]       measure: start, open, diff, chats, agents, window, hour
    python3 dev.py shots [NAME...] [--out DIR]    pictures of the window, made off screen

It writes only below this folder (``.venv``, tool caches, ``out``). System packages are installed only as root on
Debian or Ubuntu; everywhere else the one command to run is printed.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys

if sys.version_info < (3, 11):  # noqa: UP036 - whoever starts this with an older Python deserves a sentence, not a traceback
    _ENOUGH = "import sys; sys.exit(sys.version_info < (3, 11))"
    for _name in ("python3.14", "python3.13", "python3.12", "python3.11"):
        # Asked, not only looked for: a version manager's name may be there with nothing behind it.
        if shutil.which(_name) and subprocess.call([_name, "-c", _ENOUGH], stderr=subprocess.DEVNULL) == 0:
            os.execvp(_name, [_name, *sys.argv])
    sys.exit(
        f"VibeKit Desktop needs Python 3.11 or newer; this is {sys.version.split()[0]}. Install one and start dev.py with it."
    )

from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
WINDOWS = os.name == "nt"
PYTHON = VENV / ("Scripts/python.exe" if WINDOWS else "bin/python")

# What the Qt wheels load but do not bring: (library, Debian package). Found with ldd on the platform plug-ins.
ALWAYS = (
    ("libglib-2.0.so.0", "libglib2.0-0"),
    ("libgthread-2.0.so.0", "libglib2.0-0"),
    ("libGL.so.1", "libgl1"),
    ("libEGL.so.1", "libegl1"),
    ("libdbus-1.so.3", "libdbus-1-3"),
    ("libxkbcommon.so.0", "libxkbcommon0"),
    ("libfontconfig.so.1", "libfontconfig1"),
)
ON_X11 = (
    ("libxcb-cursor.so.0", "libxcb-cursor0"),
    ("libxcb-icccm.so.4", "libxcb-icccm4"),
    ("libxcb-keysyms.so.1", "libxcb-keysyms1"),
    ("libxcb-shape.so.0", "libxcb-shape0"),
    ("libxcb-image.so.0", "libxcb-image0"),
    ("libxcb-render-util.so.0", "libxcb-render-util0"),
    ("libxcb-util.so.1", "libxcb-util1"),
    ("libxcb-xkb.so.1", "libxcb-xkb1"),
    ("libxcb-randr.so.0", "libxcb-randr0"),
    ("libxcb-xfixes.so.0", "libxcb-xfixes0"),
    ("libxcb-sync.so.1", "libxcb-sync1"),
    ("libxcb-shm.so.0", "libxcb-shm0"),
    ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
    ("libX11-xcb.so.1", "libx11-xcb1"),
)
ON_WAYLAND = (
    ("libwayland-client.so.0", "libwayland-client0"),
    ("libwayland-cursor.so.0", "libwayland-cursor0"),
    ("libwayland-egl.so.1", "libwayland-egl1"),
)

# Options of the program that take a value; anything else without a dash is a verb, and verbs need no display.
VALUED = ("--data-dir", "--vault", "--workspace", "--home", "--offscreen-shot", "--size", "--theme", "--open", "--view")


class Stop(Exception):
    """Ends dev.py with a sentence and exit status 1."""


def say(text: str) -> None:
    print(f"dev.py: {text}", flush=True)


def call(command: list[str], env: dict[str, str] | None = None) -> int:
    """Run a command here and hand back its exit status; an interrupt is its business first."""
    try:
        return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode
    except KeyboardInterrupt:
        return 130


# --- system packages -------------------------------------------------------------------------------------------------


def missing_libraries(wanted: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """Those of ``wanted`` that the dynamic loader does not find."""
    if not sys.platform.startswith("linux"):
        return []
    try:
        import ctypes
    except ImportError:  # a Python built without libffi: nothing to probe with
        return []
    missing = []
    for library, package in wanted:
        try:
            ctypes.CDLL(library)
        except OSError:
            missing.append((library, package))
    return missing


def may_install() -> bool:
    """Whether system packages can be installed here and now: Debian or Ubuntu, as root."""
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_install(packages: list[str]) -> bool:
    """Install Debian packages; the lists are fetched first if apt has none or they are too old for these packages."""
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    say("installing system packages: " + " ".join(packages))
    if call(install, env) == 0:
        return True
    return call(["apt-get", "update", "-qq"], env) == 0 and call(install, env) == 0


def command_for(missing: list[tuple[str, str]]) -> str:
    """The one command that would install the missing libraries on this system, as well as we can tell."""
    if shutil.which("apt-get"):
        return "sudo apt-get install " + " ".join(dict.fromkeys(package for _, package in missing))
    if shutil.which("dnf"):
        return "sudo dnf install " + " ".join(f"'{library}()(64bit)'" for library, _ in missing)
    return "install the packages that contain " + ", ".join(library for library, _ in missing)


def need_libraries(wanted: tuple[tuple[str, str], ...], *, install: bool) -> None:
    """Make sure that Qt finds its libraries, or stop with the command that helps."""
    missing = missing_libraries(wanted)
    if missing and install and may_install() and apt_install(list(dict.fromkeys(package for _, package in missing))):
        missing = missing_libraries(wanted)
    if missing:
        names = ", ".join(library for library, _ in missing)
        raise Stop(f"Qt needs system libraries that are not here ({names}). Run: {command_for(missing)}")


# --- the virtual environment -----------------------------------------------------------------------------------------


def make_venv(*, install: bool) -> None:
    """Make ``.venv`` if there is none that works."""
    if PYTHON.exists() and subprocess.run([str(PYTHON), "-c", "import pip"], capture_output=True, check=False).returncode == 0:
        return
    if not can_make_venv():
        version = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        debian = shutil.which("apt-get") is not None
        if not (install and may_install() and (apt_install([version]) or apt_install(["python3-venv"])) and can_make_venv()):
            hint = f"Run: sudo apt-get install {version}" if debian else "Install Python's venv and ensurepip modules."
            raise Stop(f"this Python cannot make virtual environments. {hint}")
    say("making .venv")
    if call([sys.executable, "-m", "venv", "--clear", str(VENV)]) != 0:
        raise Stop("the virtual environment could not be made; see above")


def can_make_venv() -> bool:
    """Debian ships Python without ensurepip; asked in a fresh process, since it may just have been installed."""
    return subprocess.run([sys.executable, "-c", "import ensurepip, venv"], capture_output=True, check=False).returncode == 0


def set_up(*, extra: str = "", install: bool = True) -> None:
    """Install the program, editable, with its dependencies; at once if nothing changed since the last time."""
    stamp = VENV / f"stamp-{extra or 'run'}"
    digest = hashlib.sha256((ROOT / "pyproject.toml").read_bytes())
    digest.update(f"{ROOT}\n{extra}".encode())
    if PYTHON.exists() and stamp.exists() and stamp.read_text("utf-8") == digest.hexdigest():
        return
    make_venv(install=install)
    say("installing the program and its dependencies into .venv (this is done once)")
    target = f"{ROOT}[{extra}]" if extra else str(ROOT)
    if call([str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "-q", "-e", target]) != 0:
        raise Stop("the dependencies could not be installed; see above")
    stamp.write_text(digest.hexdigest(), "utf-8")


# --- the commands ----------------------------------------------------------------------------------------------------


def needs_display(args: list[str]) -> bool:
    """Whether these arguments of the program open a window on a screen."""
    if not sys.platform.startswith("linux") or os.environ.get("QT_QPA_PLATFORM"):
        return False
    rest = iter(args)
    for arg in rest:
        if arg in ("--help", "-h", "--version") or arg.startswith("--offscreen-shot"):
            return False
        if arg in VALUED:
            next(rest, None)
        elif not arg.startswith("-"):
            return False
    return True


def run(args: list[str]) -> int:
    """Start the program."""
    set_up()
    wanted = ALWAYS
    if needs_display(args):
        if os.environ.get("DISPLAY"):
            wanted += ON_X11
        elif os.environ.get("WAYLAND_DISPLAY"):
            wanted += ON_WAYLAND
    need_libraries(wanted, install=True)
    if needs_display(args) and not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        raise Stop(
            "everything is set up, but there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set): "
            "use `xvfb-run -a python3 dev.py run`, "
            "or have a picture made with `python3 dev.py run --offscreen-shot window.png`."
        )
    command = [str(PYTHON), "-m", "vibekit_desktop", *args]
    if not WINDOWS:  # where exec returns to the shell at once
        os.execv(command[0], command)
    return subprocess.run(command, check=False).returncode


def test_environment() -> dict[str, str]:
    """The environment of every check: no screen, no variables of ours from outside, but for where real agents are."""
    keep = "VIBEKIT_AGENTS"
    env = {name: value for name, value in os.environ.items() if name == keep or not name.startswith("VIBEKIT_")}
    env["QT_QPA_PLATFORM"] = "offscreen"
    env["QT_API"] = "pyside6"
    return env


def check(*, install: bool) -> int:
    """Every check, quickest first. All run even if one fails; pytest's closing line is the last one printed."""
    prepare_tests(install=install)
    env = test_environment()
    tool = str(PYTHON.parent)
    steps = (
        ("ruff format", [f"{tool}/ruff", "format", "--check"]),
        ("ruff check", [f"{tool}/ruff", "check"]),
        ("lint-imports", [f"{tool}/lint-imports"]),
        ("mypy", [f"{tool}/mypy"]),
        ("pytest tests/arch", [str(PYTHON), "-m", "pytest", "tests/arch"]),
    )
    failed = []
    for name, command in steps:
        say(name)
        if call(command, env) != 0:
            failed.append(name)
    say("failed: " + ", ".join(failed) if failed else "all good so far")
    say("pytest, everything else, on every processor")
    status = call([str(PYTHON), "-m", "pytest", "--ignore=tests/arch", "--numprocesses=logical", "--maxprocesses=8"], env)
    return status or (1 if failed else 0)


def prepare_tests(*, install: bool) -> None:
    """The program with its tools, the libraries for the offscreen platform; and where they can simply be installed, git, which
    checks our patches, and a screen for the tests of the real window."""
    set_up(extra="dev", install=install)
    need_libraries(ALWAYS, install=install)
    if install and may_install():
        wanted = [package for program, package in (("git", "git"), ("Xvfb", "xvfb")) if shutil.which(program) is None]
        wanted += [package for _, package in missing_libraries(ON_X11)]
        if wanted and not apt_install(list(dict.fromkeys(wanted))):
            say("without them some tests are skipped")


def test(args: list[str]) -> int:
    """Set everything up and check it; with arguments, only pytest with them."""
    if not args:
        return check(install=True)
    prepare_tests(install=True)
    return call([str(PYTHON), "-m", "pytest", *args], test_environment())


def measure(module: str, args: list[str]) -> int:
    """Run one of the tools under ``tests`` that are not tests."""
    prepare_tests(install=True)
    return call([str(PYTHON), "-m", module, *args], test_environment())


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "test", "check", "bench", "shots"))
    parser.add_argument("args", nargs=argparse.REMAINDER, help="handed on")
    parsed = parser.parse_args()
    args: list[str] = parsed.args
    try:
        # No match statement: this file must still parse under the Pythons that it turns away.
        if parsed.command == "run":
            return run(args)
        if parsed.command == "test":
            return test(args)
        if parsed.command == "check":
            return check(install=False)
        return measure("tests." + parsed.command, args)
    except Stop as stop:
        say(str(stop))
        return 1


if __name__ == "__main__":
    sys.exit(main())
