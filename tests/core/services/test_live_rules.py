"""What an agent may do without a question: kept by chat, and never guessed from a file that cannot be read."""

from pathlib import Path

import pytest

from tests.conftest import Clock
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services.live_rules import Rules
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.agents import Rule, RuleKind
from vibekit_desktop.core.types.ids import ChatId, VaultId

A, B = ChatId("chat-a"), ChatId("chat-b")


@pytest.fixture
def vault(tmp_path: Path, clock: Clock) -> OpenVault:
    (tmp_path / "w").mkdir()
    return OpenVault(
        Fs(), VaultId("v"), tmp_path / "v", str(tmp_path / "w"), clock=clock, data_dir=tmp_path, home=tmp_path / "home"
    )


def edits(chat: ChatId) -> Rule:
    return Rule(chat=chat, kind=RuleKind.EDITS, made_at=1)


def test_rules_are_kept_by_chat_and_once(vault: OpenVault) -> None:
    rules = Rules(Fs())
    assert rules.of(vault, A) == ()
    command = Rule(chat=A, kind=RuleKind.COMMAND, subject="npm test", made_at=2)
    for rule in (edits(A), command, edits(A), edits(B)):
        rules.add(vault, rule)
    assert Rules(Fs()).of(vault, A) == (edits(A), command)
    assert rules.of(vault, B) == (edits(B),)
    rules.forget(vault, edits(A))
    rules.forget(vault, edits(A))
    assert rules.of(vault, A) == (command,)
    assert rules.of(vault, B) == (edits(B),)


@pytest.mark.expects_log("cannot be read")
@pytest.mark.parametrize("text", ["", "{", '{"version": 1, "rules": [{"chat": "chat-a", "kind": "everything"}]}', "[]"])
def test_a_damaged_file_gives_no_rules_and_is_kept_aside(vault: OpenVault, text: str) -> None:
    path = vault.store.desktop / "rules.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    rules = Rules(Fs())
    assert rules.of(vault, A) == ()
    rules.add(vault, edits(A))
    assert rules.of(vault, A) == (edits(A),)
    (kept,) = path.parent.glob("rules.json.unread-*")
    assert kept.read_text() == text


def test_rules_of_a_newer_version_are_not_followed_and_not_lost(vault: OpenVault) -> None:
    path = vault.store.desktop / "rules.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"version": 2, "rules": []}')
    rules = Rules(Fs())
    assert rules.of(vault, A) == ()
    rules.add(vault, edits(A))
    assert len(list(path.parent.glob("rules.json.unread-*"))) == 1
