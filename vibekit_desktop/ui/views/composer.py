"""Where a person writes to an agent: the field, what goes along, mode and model, Send or Stop. Emits intents; UI thread only.

Over 400 lines would be too many for one box: the field is in `prompt_field`, chips in `attachments`, menus in `option_picks`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QMoveEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from vibekit_desktop.core.types.agents import Attachment, LivePhase, LiveState, OptionKind, Prompt
from vibekit_desktop.ui.models import usage_words
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.attachments import MOST, AttachmentStrip, is_picture, may_take, of_path, taken_from
from vibekit_desktop.ui.views.command_list import CommandList
from vibekit_desktop.ui.views.controls import Button, IconButton
from vibekit_desktop.ui.views.option_picks import Pick, fill_further, further, of_kind
from vibekit_desktop.ui.views.prompt_field import PromptField
from vibekit_desktop.ui.views.row_paint import draw_text, text_width
from vibekit_desktop.ui.views.rule_menu import fill_rules
from vibekit_desktop.ui.visible import one_line

_X, _TOP, _BOTTOM, _CHIPS_GAP = 14, 10, 4, 8
_BAR_EDGE, _BAR_GAP, _HINT_GAP = 8, 4, 8
_PICK_WIDEST, _PICK_LEAST = 190, 64
_COMMAND = re.compile(r"/(\S*)", re.ASCII)
_AGENT_CHARS = 40


@dataclass(frozen=True, slots=True)
class Written:
    """What is in the composer: not sent yet."""

    text: str = ""
    attachments: tuple[Attachment, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing that could be sent."""
        return not self.text.strip() and not self.attachments


NOTHING = Written()


class Composer(QWidget):
    """The box. Signals: ``sent(Prompt)``; ``stop_requested()``; ``edited()``: a person changed what is in it;
    ``previous_requested()``: the last prompt is wanted again; ``picked(option, value)``; ``rule_forgotten(Rule)``;
    ``told(text)``: something to be said about what was pasted; ``height_changed()``.

    Invariant: what was sent stays in it until `write` replaces it, so that a refused prompt keeps its text.
    """

    sent = Signal(object)
    stop_requested = Signal()
    edited = Signal()
    previous_requested = Signal()
    picked = Signal(str, str)
    rule_forgotten = Signal(object)
    told = Signal(str)
    height_changed = Signal()

    def __init__(self, hub: ThemeHub, host: QWidget, parent: QWidget | None = None) -> None:
        """``host``: the widget over which the list of commands stands."""
        super().__init__(parent)
        self._hub = hub
        self._host = host
        self._state: LiveState | None = None
        self._busy = self._over = self._armed = False
        self._dialog: QFileDialog | None = None
        self.folder = ""
        """Where files to attach are looked for first: the folder of the chat."""
        self.setAcceptDrops(True)
        self.chips = AttachmentStrip(hub, self)
        self.field = PromptField(hub, self)
        self.commands = CommandList(hub, host)
        self.attach_button = IconButton(hub, "attach", tr("Attach files"), large=True, parent=self)
        self.mode = Pick(hub, "shield", tr("Mode"), self)
        self.model = Pick(hub, "model", tr("Model"), self)
        self.more = IconButton(hub, "more", tr("More options, and what is allowed in this chat"), large=True, parent=self)
        self.queue_button = Button(hub, tr("Queue"), icon="queue", parent=self)
        self.queue_button.setAccessibleName(tr("Queue message"))
        self.queue_button.setToolTip(tr("Sent when the turn that runs has ended"))
        self.send_button = Button(hub, tr("Send"), kind="primary", icon="send", parent=self)
        self.send_button.setAccessibleName(tr("Send message"))
        self.stop_button = Button(hub, tr("Stop"), icon="stop", parent=self)
        self._hint = QRectF()
        self._connect()
        self.set_state(None)

    def _connect(self) -> None:
        self.chips.changed.connect(self._attachments_changed)
        self.field.send_requested.connect(self.send)
        self.field.previous_requested.connect(self.previous_requested)
        self.field.edited.connect(self._edited)
        self.field.cursorPositionChanged.connect(self._offer_commands)
        self.field.height_changed.connect(self.height_changed)
        self.field.focus_changed.connect(self._focus_changed)
        self.field.given.connect(self.add)
        self.field.refused.connect(self.told)
        self.field.keys_first = self.commands.take_key
        self.commands.chosen.connect(self._take_command)
        self.attach_button.clicked.connect(self.attach)
        self.mode.picked.connect(self.picked)
        self.model.picked.connect(self.picked)
        self.more.clicked.connect(self._open_more)
        self.send_button.clicked.connect(self.send)
        self.queue_button.clicked.connect(self.send)
        self.stop_button.clicked.connect(self.stop_requested)
        self._hub.changed.connect(self._place)

    # What it shows

    def set_state(self, state: LiveState | None) -> None:
        """What the chat is doing and what its agent offers; None: nothing is known yet."""
        self._state = state
        if not self._can_stop:
            self._armed = False
        options = state.options if state is not None else ()
        self.mode.set_option(of_kind(options, OptionKind.MODE))
        self.model.set_option(of_kind(options, OptionKind.MODEL))
        self.more.setVisible(bool(further(options) or (state is not None and state.rules)))
        self.commands.set_commands(state.commands if state is not None else ())
        agent = one_line(state.agent, _AGENT_CHARS) if state is not None else ""
        self.field.setAccessibleName(tr("Message to {agent}", agent=agent) if agent else tr("Message"))
        running = tr("Queue a message, or press Esc twice to stop…")
        self.field.set_hint(running if self.is_running else tr("Ask, or describe a change…"))
        turn = state.turn if state is not None else 0
        starting = self.phase is LivePhase.STARTING
        start = tr("Stop starting {agent}", agent=agent or tr("the agent")) if starting else tr("Stop")
        self.stop_button.setAccessibleName(tr("Stop turn {turn}", turn=turn) if turn else start)
        self._show_buttons()

    def set_busy(self, busy: bool) -> None:
        """Whether a prompt is on its way: nothing is typed meanwhile."""
        self._busy = busy
        self.field.setReadOnly(busy)
        self.chips.setEnabled(not busy)
        self.attach_button.setEnabled(not busy)
        self._show_buttons()

    def set_armed(self, armed: bool) -> None:
        """Whether one more Esc stops the turn."""
        self._armed = armed and self._can_stop
        self._show_buttons()

    @property
    def phase(self) -> LivePhase:
        """What the chat is doing."""
        return self._state.phase if self._state is not None else LivePhase.OFF

    @property
    def is_running(self) -> bool:
        """Whether a turn runs."""
        return self.phase in (LivePhase.RUNNING, LivePhase.STOPPING)

    @property
    def _can_stop(self) -> bool:
        """Whether there is something to stop: a turn, or the start of the agent."""
        return self.is_running or self.phase is LivePhase.STARTING

    @property
    def written(self) -> Written:
        """What is in it now."""
        return Written(self.field.text, self.chips.attachments)

    def write(self, written: Written) -> None:
        """Put something else into it; ``edited`` is not emitted."""
        blocked = self.chips.blockSignals(True)
        self.chips.set_attachments(written.attachments)
        self.chips.blockSignals(blocked)
        if written.text != self.field.text:
            self.field.set_text(written.text)
        self.commands.hide()
        self._show_buttons()
        self.height_changed.emit()

    def put_before(self, written: Written) -> None:
        """Put something in front of what is in it; nothing that a person wrote is lost."""
        self.chips.add(written.attachments)
        if written.text:
            self.field.put_before(written.text)

    def add(self, attachments: Sequence[Attachment]) -> None:
        """Let files or pictures go along."""
        if self._busy:
            return
        state = self._state
        known = state is not None and state.phase in (LivePhase.IDLE, LivePhase.RUNNING)
        taken = list(attachments)
        if state is not None and known and not state.takes_images and any(is_picture(one) for one in taken):
            self.told.emit(tr("{agent} takes no pictures.", agent=one_line(state.agent, _AGENT_CHARS) or tr("This agent")))
            taken = [one for one in taken if not is_picture(one)]
        if self.chips.add(taken):
            self.told.emit(tr("At most {n} files go with one message.", n=MOST))

    # What a person does

    def send(self) -> None:
        """Send what is in it, or queue it while a turn runs."""
        written = self.written
        if not written.is_empty and not self._busy:
            self.commands.hide()
            self.sent.emit(Prompt(text=written.text, attachments=written.attachments))

    def attach(self) -> None:
        """Ask for files."""
        if self._busy or self._dialog is not None:
            return
        dialog = self._dialog = QFileDialog(self.window(), tr("Attach files"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        if self.folder:
            dialog.setDirectory(self.folder)
        dialog.filesSelected.connect(self._take_files)
        dialog.destroyed.connect(self._dialog_gone)
        dialog.open()

    def _take_files(self, paths: Sequence[str]) -> None:
        self.add([of_path(path) for path in paths])
        self.focus()

    def _dialog_gone(self) -> None:
        self._dialog = None

    def focus(self) -> None:
        """Put the cursor into the field."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def further_menu(self) -> QMenu:
        """The menu of what else the agent offers and of what it may do unasked; a fresh one at every call."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self._state is not None:
            fill_further(menu, further(self._state.options), self.picked.emit)
            fill_rules(menu, self._state.rules, self.rule_forgotten.emit)
        return menu

    def _open_more(self) -> None:
        menu = self.further_menu()
        menu.popup(self.more.mapToGlobal(QPoint(0, -menu.sizeHint().height() - 4)))

    # How

    def _edited(self) -> None:
        self._show_buttons()
        self._offer_commands()
        self.edited.emit()

    def _attachments_changed(self) -> None:
        self._show_buttons()
        self.height_changed.emit()
        self.edited.emit()
        if not self.chips.attachments and self.isVisible():
            self.focus()

    def _focus_changed(self) -> None:
        if not self.field.hasFocus():
            self.commands.hide()
        self.update()

    def _offer_commands(self) -> None:
        typed = self.field.text[: self.field.textCursor().position()] if self.field.hasFocus() else ""
        found = _COMMAND.fullmatch(typed)
        if found is None or self._busy:
            self.commands.hide()
            return
        self.commands.offer(found[1])
        height = self.commands.height_wanted()
        place = self.mapTo(self._host, QPoint(0, 0))
        self.commands.setGeometry(place.x(), max(0, place.y() - height - 6), self.width(), height)

    def follow(self) -> None:
        """The box stands elsewhere now: the list of commands stands over it."""
        if self.commands.isVisible():
            self._offer_commands()

    def _take_command(self, name: str) -> None:
        self.field.put_instead(0, f"/{name} ")
        self.commands.hide()
        self.focus()

    def _show_buttons(self) -> None:
        empty = self.written.is_empty
        self.send_button.setVisible(not self.is_running)
        self.send_button.setEnabled(not empty and not self._busy)
        self.queue_button.setVisible(self.is_running and not empty)
        self.queue_button.setEnabled(not self._busy)
        self.stop_button.setVisible(self._can_stop)
        self.stop_button.setEnabled(self.phase is not LivePhase.STOPPING)
        self._place()

    @property
    def hint(self) -> str:
        """What stands beside the buttons."""
        agent = one_line(self._state.agent, _AGENT_CHARS) if self._state is not None else ""
        if self._armed:
            return tr("Press Esc again to stop")
        if self.phase is LivePhase.STOPPING:
            return tr("Stopping…")
        if self.phase is LivePhase.STARTING:
            return tr("Starting {agent}…", agent=agent or tr("the agent"))
        if self._busy:
            return tr("Sending…")
        if self.is_running:
            return tr("Enter queues") if self.written.is_empty else ""
        if not self.written.is_empty:
            return tr("Enter sends")
        return usage_words.in_short(self._state.usage) if self._state is not None else ""

    # Layout

    def height_for(self, width: int, most: int) -> int:
        """The height wanted in a width, at most ``most``."""
        chips = self.chips.lay_out(width - 2 * _X)
        around = _TOP + (chips + _CHIPS_GAP if chips else 0) + _BOTTOM + self._hub.theme.size("composer-bar")
        return min(max(most, around + self._hub.theme.line_height("reading")), around + self.field.text_height())

    def _place(self) -> None:
        bar = self._hub.theme.size("composer-bar")
        chips = self.chips.lay_out(self.width() - 2 * _X)
        self.chips.setGeometry(_X, _TOP, max(0, self.width() - 2 * _X), chips)
        top = _TOP + (chips + _CHIPS_GAP if chips else 0)
        # The bar of the field stands in the box's own inset, so that it does not cover text.
        self.field.setGeometry(_X, top, max(0, self.width() - _X - 4), max(0, self.height() - top - _BOTTOM - bar))
        self._place_bar(self.height() - bar, bar)
        self.update()

    def _place_bar(self, top: int, height: int) -> None:
        right = self.width() - _BAR_EDGE
        for button in (self.send_button, self.stop_button, self.queue_button):
            if not button.isHidden():
                size = button.sizeHint()
                right -= size.width()
                button.setGeometry(right, top + (height - size.height()) // 2, size.width(), size.height())
                right -= _BAR_GAP
        left = _BAR_EDGE
        side = self.attach_button.sizeHint().width()
        self.attach_button.setGeometry(left, top + (height - side) // 2, side, side)
        left += side + _BAR_GAP
        picks = [pick for pick in (self.mode, self.model) if not pick.isHidden()]
        room = right - left - (side + _BAR_GAP if not self.more.isHidden() else 0) - _BAR_GAP * len(picks)
        widths = [min(pick.wanted_width(), _PICK_WIDEST) for pick in picks]
        while widths and sum(widths) > room and max(widths) > _PICK_LEAST:
            widths[widths.index(max(widths))] -= 1
        for pick, width in zip(picks, widths, strict=True):
            size = pick.sizeHint()
            pick.setGeometry(left, top + (height - size.height()) // 2, width, size.height())
            left += width + _BAR_GAP
        if not self.more.isHidden():
            self.more.setGeometry(left, top + (height - side) // 2, side, side)
            left += side + _BAR_GAP
        right -= _HINT_GAP
        width = round(text_width(self._hub.theme, "small", self.hint) + 1)
        self._hint = QRectF(right - width, top, width, height) if self.hint and left + width <= right else QRectF()

    # Qt's names below.

    def sizeHint(self) -> QSize:
        return QSize(self._hub.theme.size("reading-max"), self._hub.theme.size("composer-min"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()
        self.follow()

    def moveEvent(self, event: QMoveEvent) -> None:
        self.follow()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if may_take(event.mimeData()) and not self._busy:
            self._over = True
            event.acceptProposedAction()
            self.update()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._over = False
        self.update()

    def dropEvent(self, event: QDropEvent) -> None:
        self._over = False
        self.update()
        found = taken_from(event.mimeData())
        if found:
            event.acceptProposedAction()
            self.add(found)
            self.focus()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        box = QRectF(self.rect())
        radius = theme.radius("composer")
        rounded(painter, box, radius, fill=theme.color("accent.tint" if self._over else "bg.field"))
        focused = self.field.hasFocus()
        width = theme.size("focus-width") if focused and not self._over else 1
        pen = QPen(theme.color("accent.text" if self._over else "line.focus" if focused else "line.control"), width)
        if self._over:
            pen.setDashPattern([3, 2])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        inset = width / 2
        painter.drawRoundedRect(box.adjusted(inset, inset, -inset, -inset), radius - inset, radius - inset)
        if self.hint and not self._hint.isEmpty():
            draw_text(painter, theme, self._hint, self.hint, style="small", token="text.tertiary", elide=None)
