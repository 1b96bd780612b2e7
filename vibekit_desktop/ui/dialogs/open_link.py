"""Ask before an address from a chat is opened in the browser: the whole host is shown, nothing else than http(s) opens."""

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from vibekit_desktop.ui.dialogs.question import Choice, Question
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.visible import visible

_MOST = 2_000
_SHOWN, _SHOWN_REFUSED = 600, 300
_LINE = 56
"""An address has no spaces to be wrapped at."""


def web_address(text: str) -> QUrl | None:
    """The address if it is a web address with a host and without a name or password in it; else None."""
    url = QUrl(text.strip(), QUrl.ParsingMode.StrictMode)
    if len(text) > _MOST or not url.isValid() or url.scheme() not in ("http", "https") or not url.host():
        return None
    return None if url.userInfo() else url


async def ask_to_open(hub: ThemeHub, window: QWidget, text: str) -> None:
    """Show the address and ask; or say that it can't be opened."""
    url = web_address(text)
    if url is None:
        title = tr("This address can't be opened from here.")
        refused = Question(
            hub, window, title, _lines(visible(text[:_SHOWN_REFUSED])), [Choice("", tr("Close"))], icon="external"
        )
        await refused.ask()
        return
    # The host as the browser will look it up: look-alike letters show as xn--.
    host = url.host(QUrl.ComponentFormattingOption.FullyEncoded)
    address = visible(url.toString(QUrl.ComponentFormattingOption.FullyEncoded)[:_SHOWN])
    choices = [Choice("", tr("Cancel")), Choice("open", tr("Open"), "primary")]
    question = Question(hub, window, tr("Open {host} in the browser?", host=host), _lines(address), choices, icon="external")
    if await question.ask() == "open":
        QDesktopServices.openUrl(url)


def _lines(text: str) -> str:
    return "\n".join(text[at : at + _LINE] for at in range(0, len(text), _LINE))
