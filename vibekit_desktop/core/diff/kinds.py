"""Files that nobody reads line by line: lock files, generated ones, minified ones; and which bytes are a picture.

By the name, and by a bounded part of the content. Pure; any thread.
"""

import re

_LOCK_NAMES = """
package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock composer.lock cargo.lock
poetry.lock pipfile.lock uv.lock pdm.lock pixi.lock conda-lock.yml gemfile.lock go.sum go.work.sum mix.lock pubspec.lock
podfile.lock cartfile.resolved package.resolved packages.lock.json paket.lock flake.lock gradle.lockfile
buildscript-gradle.lockfile .terraform.lock.hcl chart.lock rebar.lock shard.lock stack.yaml.lock cabal.project.freeze
module.bazel.lock dub.selections.json
"""
_LOCKS = frozenset(_LOCK_NAMES.split())
_GENERATED_NAME = re.compile(
    r"(?:_pb2(?:_grpc)?\.pyi?|\.pb\.(?:go|cc|h|dart)|_pb\.(?:js|d\.ts)|\.g\.dart|\.freezed\.dart|\.designer\.(?:cs|vb)"
    r"|\.g\.(?:i\.)?cs|\.generated\.[a-z]+|_generated\.[a-z]+|\.snap|\.map|_rc\.py)$"
)
_MINIFIED_NAME = re.compile(r"[.-]min\.(?:js|mjs|cjs|css)$")
_MARK = re.compile(rb"@generated\b", re.IGNORECASE)
_GENERATED = re.compile(rb"\b(?:auto-?)?generated\b", re.IGNORECASE)
_HANDS_OFF = re.compile(rb"\bdo not (?:edit|modify|change)\b|\b(?:will|would) be (?:lost|overwritten)\b", re.IGNORECASE)
_BUNDLED = re.compile(r"\.(?:js|mjs|cjs|css|json|svg|html?)$")
_HEAD = 2_000
_LONG_LINES = 500
"""Characters a line on average that no person writes in a script or style sheet."""
_LEAST = 5_000

_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")


def is_image(data: bytes | None) -> bool:
    """Whether the bytes begin as a PNG or a JPEG does."""
    return data is not None and data.startswith(_PICTURES)


def generated(path: str, old: bytes | None, new: bytes | None) -> str:
    """Why a file is not shown at once: ``lock``, ``minified``, ``generated``; empty for one that is."""
    name = path.rpartition("/")[2].lower()
    if name in _LOCKS:
        return "lock"
    data = old if new is None else new
    if data is None:
        return ""
    if _MINIFIED_NAME.search(name) or (_BUNDLED.search(name) and _lines_are_long(data)):
        return "minified"
    if _GENERATED_NAME.search(name) or _says_so(data[:_HEAD]):
        return "generated"
    return ""


def _lines_are_long(data: bytes) -> bool:
    return len(data) >= _LEAST and len(data) > _LONG_LINES * (data.count(b"\n") + 1)


def _says_so(head: bytes) -> bool:
    """Both sentences: one alone is also written about other files."""
    return _MARK.search(head) is not None or (_GENERATED.search(head) is not None and _HANDS_OFF.search(head) is not None)
