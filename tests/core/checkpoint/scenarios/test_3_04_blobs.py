"""Scenarios 47 to 58 of the specification: the store of contents. Each test says which of them it shows."""

import hashlib
import os
from pathlib import Path

import pytest

from vibekit_desktop.core.checkpoint.blobs import BlobStore, hash_of
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.errors import BlobCorrupt, BlobNotFound, InvalidId
from vibekit_desktop.core.types.ids import WorkspacePath, parse_blob_hash

CAP = 16 << 20


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(Fs(), tmp_path)


def place(folder: Path, sha: str) -> Path:
    return folder / "snapshots" / "blobs" / sha[:2] / sha[2:]


def planted(folder: Path, sha: str, data: bytes) -> Path:
    path = place(folder, sha)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_47_a_content_comes_back_under_its_sha_256(blobs: BlobStore) -> None:
    sha = blobs.put(b"content")
    assert sha == hashlib.sha256(b"content").hexdigest() == blobs.put(b"content")
    assert len(sha) == 64
    assert blobs.get(sha) == b"content"


def test_48_the_same_bytes_twice_are_one_content(blobs: BlobStore) -> None:
    assert blobs.put(b"x") == blobs.put(b"x")
    assert blobs.has(hash_of(b"x"))
    assert blobs.listed() == ({hash_of(b"x"): 1}, [])


def test_49_an_empty_content_is_one_too(blobs: BlobStore) -> None:
    sha = blobs.put(b"")
    assert sha == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert blobs.get(sha) == b""


def test_50_an_unknown_hash_is_not_found(blobs: BlobStore) -> None:
    with pytest.raises(BlobNotFound):
        blobs.get(hash_of(b"never"))
    assert not blobs.has(hash_of(b"never"))


def test_51_after_a_put_there_is_one_file_and_nothing_else(blobs: BlobStore, tmp_path: Path) -> None:
    sha = blobs.put(b"x")
    assert os.listdir(place(tmp_path, sha).parent) == [sha[2:]]
    assert os.listdir(tmp_path / "snapshots" / "blobs") == [sha[:2]]


@pytest.mark.parametrize("text", ["", "ab", "not-hex", "a" * 63, "A" * 64, "g" * 64, "\0" * 64, "../" * 21 + "x"])
def test_50_52_what_is_no_hash_names_no_content(text: str) -> None:
    """Refused at the edge: inside, a hash is one (`BlobHash`), so no path is ever made of anything else."""
    with pytest.raises(InvalidId):
        parse_blob_hash(text)


def test_53_a_large_file_planted_at_a_hash_is_never_handed_out(blobs: BlobStore, tmp_path: Path) -> None:
    """The original has a cap on reading; ours has none, and finds by the hash that it is something else."""
    sha = hash_of(b"x")
    planted(tmp_path, sha, bytes(CAP + 1))
    with pytest.raises(BlobCorrupt):
        blobs.get(sha)


@pytest.mark.parametrize("size", [CAP - 1, CAP, CAP + 1])
def test_54_a_content_of_any_size_is_read(blobs: BlobStore, size: int) -> None:
    """What the original stores above its cap and can never read again (W18), ours reads."""
    sha = blobs.put(bytes(size))
    assert hashlib.sha256(blobs.get(sha)).hexdigest() == sha


def test_55_a_link_planted_at_a_hash_is_not_followed_and_stays(blobs: BlobStore, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"x")
    path = place(tmp_path, hash_of(b"x"))
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "secret")
    with pytest.raises(BlobNotFound):
        blobs.get(hash_of(b"x"))
    assert path.is_symlink()


def test_56_a_good_content_is_read_in_silence(blobs: BlobStore) -> None:
    """A log record of level warning would fail this test."""
    sha = blobs.put(b"x")
    blobs.check(sha)
    assert blobs.get(sha) == b"x"


def test_57_a_content_that_does_not_match_its_name_is_never_handed_out(blobs: BlobStore, tmp_path: Path) -> None:
    sha = blobs.put(b"right")
    planted(tmp_path, sha, b"wrong")
    with pytest.raises(BlobCorrupt):
        blobs.get(sha)


def test_58_syncing_the_folder_of_a_name_is_silent_also_where_it_is_gone(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    workspace = Workspace.open(Fs(), tmp_path)
    for path in ("there/f", "gone/f", "f"):
        workspace.sync_parent(WorkspacePath(path))
