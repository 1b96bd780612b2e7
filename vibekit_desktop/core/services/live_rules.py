"""What agents may do without a question, by chat: ``desktop/rules.json`` of a vault, replaced whole. Blocking.

A file that cannot be read gives no rules: everything is asked. It is kept aside before it is replaced.
"""

import logging

import msgspec

from vibekit_desktop.core.disk import atomic
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.agents import Rule, RuleKind
from vibekit_desktop.core.types.errors import CannotRead
from vibekit_desktop.core.types.ids import ChatId

_LIMIT_BYTES = 4 << 20
_MOST = 2_000
_log = logging.getLogger(__name__)


class _Stored(msgspec.Struct, frozen=True, omit_defaults=True):
    chat: str
    kind: RuleKind
    subject: str = ""
    made_at: int = 0


class _File(msgspec.Struct, frozen=True):
    version: int = 1
    rules: tuple[_Stored, ...] = ()


class Rules:
    """The rules of every vault, as they are on disk."""

    def __init__(self, fs: Fs) -> None:
        self._fs = fs

    def of(self, vault: OpenVault, chat: ChatId) -> tuple[Rule, ...]:
        """The rules of one chat, oldest first."""
        found, _ = self._read(vault)
        return tuple(
            Rule(chat=chat, kind=one.kind, subject=one.subject, made_at=one.made_at) for one in found if one.chat == chat
        )

    def add(self, vault: OpenVault, rule: Rule) -> None:
        """Keep a rule; one that says the same is not kept twice. Under the vault's lock."""
        found, damaged = self._read(vault)
        fresh = _Stored(rule.chat, rule.kind, rule.subject, rule.made_at)
        if not any((one.chat, one.kind, one.subject) == (fresh.chat, fresh.kind, fresh.subject) for one in found):
            self._write(vault, (*found, fresh)[-_MOST:], damaged=damaged)

    def forget(self, vault: OpenVault, rule: Rule) -> None:
        """Drop a rule. Under the vault's lock."""
        found, damaged = self._read(vault)
        kept = tuple(one for one in found if (one.chat, one.kind, one.subject) != (rule.chat, rule.kind, rule.subject))
        if kept != found:
            self._write(vault, kept, damaged=damaged)

    def _read(self, vault: OpenVault) -> tuple[tuple[_Stored, ...], bool]:
        try:
            data = self._fs.read_bytes(vault.store.desktop / "rules.json", limit=_LIMIT_BYTES)
            found = msgspec.json.decode(data, type=_File)
        except FileNotFoundError:
            return (), False
        except (CannotRead, msgspec.MsgspecError, ValueError, RecursionError) as error:
            _log.warning("the rules of vault %s cannot be read (%s): everything is asked", vault.id, type(error).__name__)
            return (), True
        return (found.rules, False) if found.version == 1 else ((), True)

    def _write(self, vault: OpenVault, rules: tuple[_Stored, ...], *, damaged: bool) -> None:
        path = vault.store.desktop / "rules.json"
        self._fs.make_folder(path.parent)
        if damaged:
            self._fs.rename(path, atomic.temp_beside(path).with_name(f"rules.json.unread-{vault.store.make_token()[:12]}"))
        atomic.replace(self._fs, path, msgspec.json.format(msgspec.json.encode(_File(rules=rules)), indent=2))
