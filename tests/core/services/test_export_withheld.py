"""An export without what is to be left out, in every format of a transcript; a patch is whole."""

import pytest

from tests.core.services.town import Town
from vibekit_desktop.core.types.chats import ExportFormat, Withheld
from vibekit_desktop.core.types.ids import ChatId

CHAT = ChatId("chat-0001")
SECRET = "ghp_" + "Ab12" * 9


@pytest.mark.parametrize("kind", [ExportFormat.MARKDOWN, ExportFormat.HTML, ExportFormat.JSON])
def test_a_likely_secret_is_in_no_format_unless_everything_is_wanted(town: Town, kind: ExportFormat) -> None:
    town.turn(CHAT, f"use {SECRET} for it", a=f"{SECRET}\n")
    whole = town.run(lambda wired: wired.core.exports.export(CHAT, kind))
    assert SECRET.encode() in whole.data
    made = town.run(lambda wired: wired.core.exports.export(CHAT, kind, withheld=Withheld(secrets=True)))
    assert SECRET.encode() not in made.data
    assert b"[masked]" in made.data
    assert SECRET not in made.name
    patch = town.run(lambda wired: wired.core.exports.export(CHAT, ExportFormat.PATCH, withheld=Withheld(secrets=True)))
    assert SECRET.encode() in patch.data, "or it could not be applied"
