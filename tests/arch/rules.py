"""Rules that ruff and import-linter cannot state, as functions from source text to what is wrong with it."""

import ast
from collections.abc import Callable, Iterator

# Methods of `pathlib.Path` that touch the disk however they are called.
PATH_METHODS = {
    "chmod", "group", "hardlink_to", "is_block_device", "is_char_device", "is_dir", "is_fifo", "is_file", "is_mount",
    "is_socket", "is_symlink", "iterdir", "lstat", "mkdir", "owner", "read_bytes", "read_text", "readlink", "rglob", "rmdir",
    "samefile", "symlink_to", "touch", "unlink", "walk", "write_bytes", "write_text",
}  # fmt: skip
# The same, but words that ports and values use too: Path's own take no positional argument.
PATH_METHODS_WITHOUT_ARGUMENTS = {"exists", "resolve", "stat"}
WRITING_METHODS = {
    "chmod", "hardlink_to", "mkdir", "rmdir", "symlink_to", "touch", "unlink", "write_bytes", "write_text",
}  # fmt: skip
PURE_OS = {
    "PathLike", "cpu_count", "curdir", "environ", "fsdecode", "fsencode", "fspath", "get_terminal_size", "getenv", "getpid",
    "isatty", "linesep", "name", "path", "pathsep", "sep", "stat_result", "strerror",
}  # fmt: skip
PURE_OS_PATH = {
    "abspath", "altsep", "basename", "commonpath", "commonprefix", "dirname", "expanduser", "isabs", "join", "normcase",
    "normpath", "sep", "split", "splitdrive", "splitext",
}  # fmt: skip
QT_DISK = {
    "QDir", "QDirIterator", "QFile", "QFileInfo", "QFileSystemWatcher", "QProcess", "QSaveFile", "QSettings", "QTemporaryDir",
    "QTemporaryFile", "QThread", "QThreadPool",
}  # fmt: skip

Finding = tuple[ast.AST, str]
Rule = Callable[[ast.AST], Iterator[Finding]]


def _receiver(node: ast.Attribute) -> str:
    """The last name before the dot: ``fs`` of ``self._fs.stat``."""
    value = node.value
    if isinstance(value, ast.Attribute):
        return value.attr.lstrip("_")
    return value.id.lstrip("_") if isinstance(value, ast.Name) else ""


def _path_call(node: ast.Call) -> str | None:
    """The name of the Path method that touches the disk, if this call is one. Calls on an `Fs` object are not, nor are those
    on a `Workspace`, which are told what to do it to."""
    function = node.func
    if not isinstance(function, ast.Attribute) or _receiver(function) == "fs":
        return None
    if _receiver(function) == "workspace" and node.args:
        return None
    if function.attr in PATH_METHODS:
        return function.attr
    if function.attr in PATH_METHODS_WITHOUT_ARGUMENTS and not node.args:
        return function.attr
    if (
        function.attr == "open"
        and isinstance(function.value, ast.Call)
        and ast.unparse(function.value.func) in ("Path", "pathlib.Path")
    ):
        return "open"
    return None


def _is_open(node: ast.Call) -> bool:
    return ast.unparse(node.func) in ("open", "io.open", "io.FileIO", "codecs.open")


def disk_use(tree: ast.AST) -> Iterator[Finding]:
    """Every place that reads or writes the disk by itself: `open`, Path's methods, `os`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if _is_open(node):
                yield node, "open()"
            elif name := _path_call(node):
                yield node, f"Path.{name}()"
        elif isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id == "os" and node.attr not in PURE_OS:
                yield node, f"os.{node.attr}"
            elif ast.unparse(node.value) == "os.path" and node.attr not in PURE_OS_PATH:
                yield node, f"os.path.{node.attr}"
        elif isinstance(node, ast.ImportFrom) and node.module in ("os", "os.path", "io"):
            allowed = PURE_OS if node.module == "os" else PURE_OS_PATH if node.module == "os.path" else {"BytesIO", "StringIO"}
            for alias in node.names:
                if alias.name not in allowed:
                    yield node, f"from {node.module} import {alias.name}"


def disk_writes(tree: ast.AST) -> Iterator[Finding]:
    """Every place that changes the disk: for packages that may only read."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if _is_open(node):
            mode = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "mode"), None)
            reading = mode is None or (
                isinstance(mode, ast.Constant) and isinstance(mode.value, str) and not set(mode.value) & set("wax+")
            )
            if not reading:
                yield node, "open() for writing"
        elif isinstance(node.func, ast.Attribute) and _receiver(node.func) != "fs":
            name = node.func.attr
            if name in WRITING_METHODS:
                yield node, f".{name}()"
            elif _receiver(node.func) == "os" and name in {
                "remove",
                "rename",
                "replace",
                "makedirs",
                "removedirs",
                "truncate",
                "write",
                "link",
            }:
                yield node, f"os.{name}()"


def qt_disk_use(tree: ast.AST) -> Iterator[Finding]:
    """Every mention of a Qt class that touches the disk, a process or a thread."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            for alias in node.names:
                if alias.name in QT_DISK:
                    yield node, alias.name
        elif isinstance(node, ast.Attribute) and node.attr in QT_DISK:
            yield node, node.attr


def bare_tasks(tree: ast.AST) -> Iterator[Finding]:
    """Every task that nobody keeps, names or listens to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("create_task", "ensure_future"):
                yield node, f"{name}()"


def nested_loops(tree: ast.AST) -> Iterator[Finding]:
    """Every ``exec()``: a nested event loop inside a coroutine breaks the other tasks."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("exec", "exec_"):
            yield node, f".{node.func.attr}()"


def unfinished(source: str) -> Iterator[str]:
    """Words that say that something is not done."""
    for number, line in enumerate(source.split("\n"), 1):
        for word in ("TO" + "DO", "FIX" + "ME", "XX" + "X", "NotImplemented" + "Error"):
            if word in line:
                yield f"{number}: {word}"
