"""What an agent waits to be allowed, docked over the composer: who wants what, the thing itself in a frame, the answers.

It never takes the focus and never goes off by itself. Nobody allows what they did not read: for a moment after what it shows or
where it stands changed, no answer counts. UI thread only.
"""

import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QHideEvent,
    QMoveEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from vibekit_desktop.core.types.agents import Answer, Hold, Operation, Question
from vibekit_desktop.ui.models import permission_words as words
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.framed import Framed, change_lines
from vibekit_desktop.ui.views.hint_button import HintButton
from vibekit_desktop.ui.views.row_paint import draw_text, text_width
from vibekit_desktop.ui.visible import visible
from vibekit_desktop.ui.when import local_now_ms
from vibekit_desktop.ui.wording import short_path

READ_MS = 400
"""For so long after a change no answer counts."""
_PAD, _TOP, _GAP, _ICON = 14, 12, 10, 22
_SUBJECT_ROWS, _CHANGE_ROWS, _LEAST_ROWS = 6, 8, 2
_WRAP = int(Qt.TextFlag.TextWordWrap)


def monotonic_ms() -> int:
    """A clock that only goes on; by it the moment after a change is measured."""
    return time.monotonic_ns() // 1_000_000


class PermissionPanel(QWidget):
    """The panel. ``answered(question id, Answer)``: a person answered the question with this id. ``height_changed`` has no
    argument: it wants another height. ``focus_left`` has none: it had the focus and is gone.

    Invariant: what is answered is what was shown for at least `READ_MS`.
    """

    answered = Signal(str, object)
    height_changed = Signal()
    focus_left = Signal()

    def __init__(
        self,
        hub: ThemeHub,
        parent: QWidget | None = None,
        *,
        now_ms: Callable[[], int] = local_now_ms,
        clock_ms: Callable[[], int] = monotonic_ms,
    ) -> None:
        super().__init__(parent)
        self._hub = hub
        self._now_ms, self._clock_ms = now_ms, clock_ms
        self._since = 0
        self._questions: tuple[Question, ...] = ()
        self._workspace = ""
        self._menu: QMenu | None = None
        self._own = ""
        """The agent's own words, where they say more."""
        self._sentences: list[tuple[str, str, str]] = []
        """Icon, its token, text."""
        self._drawn: list[tuple[QRectF, str, str, str]] = []
        self._label = QRectF()
        self.own = Framed(hub, self)
        self.subject = Framed(hub, self)
        self.change = Framed(hub, self)
        self.first = HintButton(hub, "", kind="primary")
        self.wide = HintButton(hub, tr("Allow in this chat"), menu=True)
        self.unprotected = HintButton(hub, "")
        self.deny_button = HintButton(hub, "")
        self._buttons = (self.first, self.wide, self.unprotected, self.deny_button)
        for button in self._buttons:
            button.setParent(self)
        self.first.clicked.connect(lambda: self._press(self._first_answer()))
        self.wide.clicked.connect(self._open_menu)
        self.unprotected.clicked.connect(lambda: self._press(Answer.UNPROTECTED))
        self.deny_button.clicked.connect(self.deny)
        self._tick = QTimer(self)
        self._tick.setInterval(1000)
        self._tick.timeout.connect(self._time_passed)
        self._keys = ("", "")
        self.hide()
        hub.changed.connect(self._themed)

    # What is shown

    def set_keys(self, allow: str, deny: str) -> None:
        """The keys of Allow once and Deny, to be read on the buttons."""
        self._keys = (allow, deny)
        self._show_buttons()

    def set_workspace(self, workspace: str) -> None:
        """The workspace that folders are relative to."""
        self._workspace = workspace

    @property
    def question(self) -> Question | None:
        """The one that is shown: the oldest."""
        return self._questions[0] if self._questions else None

    def show_questions(self, questions: Sequence[Question]) -> None:
        """What waits for an answer now, oldest first; none hides the panel."""
        former, count = self.question, len(self._questions)
        self._questions = tuple(questions)
        shown = self.question
        if shown == former and len(questions) == count:
            return
        if shown != former:
            self._since = self._clock_ms()
            self._close_menu()
            self._fill()
        self.setVisible(shown is not None)
        if shown is not None and shown != former:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.accessibleName()))
        self.height_changed.emit()
        self.update()

    def _fill(self) -> None:
        question = self.question
        if question is None:
            return
        subject = words.subject_lines(question)
        folder = words.folder_line(question, self._folder(question))
        self.subject.show_text(subject, foot=folder)
        self._own = words.agents_words(question)
        self.own.show_text([self._own])
        # A path stands over its change, in one frame; a command stands alone.
        together = bool(question.diffs) and question.operation is not Operation.RUN
        self.change.show_change(change_lines(subject if together else (), question.diffs))
        self._sentences = [("warning", "warning.text", text) for text in words.reasons(question)]
        if cut := (self.change.cut if together else self.subject.cut + self.change.cut):
            self._sentences.append(("warning", "warning.text", words.cut_note(cut)))
        if calm := words.reassurance(question):
            self._sentences.append(("shield", "success.text", calm))
        what = words.headline(question)
        self.setAccessibleName(". ".join((what, *map(visible, subject[:3]))))
        self.setAccessibleDescription(" ".join(text for _, _, text in self._sentences))
        for frame, name in ((self.subject, tr("What it is about")), (self.change, tr("What the agent says will change")),
                            (self.own, tr("In the agent's words"))):  # fmt: skip
            frame.lines.setAccessibleName(f"{what}: {name}")
        self.subject.setVisible(bool(subject) and not together)
        self.own.setVisible(bool(self._own))
        self.change.setVisible(bool(question.diffs))
        self._show_buttons()

    def _folder(self, question: Question) -> str:
        folder = question.folder
        if not folder or folder == ".":
            return short_path(self._workspace)
        rooted = folder.startswith(("/", "~", "\\")) or folder[1:2] == ":"
        return short_path(folder) if rooted or not self._workspace else short_path(f"{self._workspace}/{folder}")

    def _first_answer(self) -> Answer | None:
        question = self.question
        answers = question.answers if question is not None else ()
        return next((one for one in (Answer.ALLOW_ONCE, Answer.RETRY) if one in answers), None)

    def _show_buttons(self) -> None:
        question = self.question
        if question is None:
            return
        first = self._first_answer()
        for button, answer, keys in (
            (self.first, first, self._keys[0] if first is Answer.ALLOW_ONCE else ""),
            (self.unprotected, Answer.UNPROTECTED, ""),
            (self.deny_button, Answer.DENY, self._keys[1]),
        ):
            there = answer is not None and answer in question.answers
            button.setVisible(there)
            if answer is not None and there:
                said = words.answer_button(question, answer)
                button.setText(said.text)
                button.setAccessibleName(said.name)
                button.set_hint(keys)
        self.wide.setVisible(any(answer in words.CHAT_WIDE for answer in question.answers))
        self.wide.setAccessibleName(tr("Allow in this chat: {what}", what=words.headline(question)))

    # Answers

    def allow_once(self) -> None:
        """Allow once, if that is an answer and there was time to read."""
        self._press(Answer.ALLOW_ONCE)

    def deny(self) -> None:
        """Deny, if there was time to read."""
        self._press(Answer.DENY)

    @property
    def may_answer(self) -> bool:
        """Whether what is shown has been shown for long enough."""
        return self.question is not None and self._clock_ms() - self._since >= READ_MS

    def _press(self, answer: Answer | None) -> None:
        question = self.question
        if question is not None and answer is not None and answer in question.answers and self.may_answer:
            self.answered.emit(question.id, answer)

    def menu(self) -> QMenu | None:
        """The menu of the answers for the whole chat; it answers the question that it was made for."""
        question = self.question
        if question is None:
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for answer in question.answers:
            if answer in words.CHAT_WIDE:
                action = menu.addAction(words.answer_button(question, answer).text.replace("&", "&&"))
                action.triggered.connect(lambda _=False, chosen=answer, asked=question.id: self.answered.emit(asked, chosen))
        return menu

    def _open_menu(self) -> None:
        if not self.may_answer:
            return
        menu = self._menu = self.menu()
        if menu is not None:
            menu.destroyed.connect(self._menu_gone)
            menu.popup(self.wide.mapToGlobal(QPoint(0, self.wide.height() + 4)))

    def _menu_gone(self) -> None:
        self._menu = None

    def _close_menu(self) -> None:
        if self._menu is not None:
            self._menu.close()

    # Layout

    def height_for(self, width: int, room: int) -> int:
        """The height wanted in a width, where the frames may take about ``room``."""
        return self._lay_out(width, room, place=False) if self.question is not None else 0

    def _lay_out(self, width: int, room: int, *, place: bool) -> int:
        theme = self._hub.theme
        inner = width - 2 * _PAD
        y = theme.size("permission-head") + _TOP
        rows = max(_LEAST_ROWS, room // theme.line_height("code"))
        small = theme.line_height("small")
        self._label = QRectF()
        if self._own:
            self._label = QRectF(_PAD, y, inner, small)
            y += small + 4
        for frame, shown, most in (
            (self.own, bool(self._own), 1),
            (self.subject, not self.subject.isHidden(), min(_SUBJECT_ROWS, rows)),
            (self.change, not self.change.isHidden(), min(_CHANGE_ROWS, rows)),
        ):
            if shown:
                height = frame.height_for(inner, most)
                if place:
                    frame.setGeometry(_PAD, y, inner, height)
                y += height + 8
        y += _GAP - 8
        self._drawn = []
        for icon, token, text in self._sentences:
            box = theme.metrics("small").boundingRect(QRectF(0, 0, inner - _ICON, 1000), _WRAP, text)
            height = max(small, int(box.height() + 0.999))
            self._drawn.append((QRectF(_PAD, y, inner, height), icon, token, text))
            y += height + 6
        y += _TOP - (6 if self._sentences else _GAP)
        return self._place_buttons(width, y, place=place) + _TOP + 1

    def _place_buttons(self, width: int, y: int, *, place: bool) -> int:
        """The buttons from the left, Deny at the right; what does not fit goes into a second row. Returns their lower end."""
        x, height = _PAD, self.first.sizeHint().height()
        deny = self.deny_button.sizeHint()
        for button in self._buttons[:-1]:
            if button.isHidden():
                continue
            size = button.sizeHint()
            if x > _PAD and x + size.width() > width - _PAD:
                x, y = _PAD, y + height + 8
            if place:
                button.setGeometry(x, y, size.width(), size.height())
            x += size.width() + 8
        if not self.deny_button.isHidden():
            if x > _PAD and x + deny.width() > width - _PAD:
                y += height + 8
            if place:
                self.deny_button.setGeometry(width - _PAD - deny.width(), y, deny.width(), deny.height())
        return y + height

    def place(self, room: int) -> None:
        """Put everything where it goes in the present size."""
        self._lay_out(self.width(), room, place=True)
        self.update()

    def _time_passed(self) -> None:
        self.update(0, 0, self.width(), self._hub.theme.size("permission-head"))

    def _themed(self) -> None:
        self.height_changed.emit()
        self.update()

    # Qt's names below.

    def sizeHint(self) -> QSize:
        return QSize(self._hub.theme.size("reading-max"), 180)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._since = self._clock_ms()  # the buttons stand elsewhere now, perhaps under the pointer

    def moveEvent(self, event: QMoveEvent) -> None:
        self._since = self._clock_ms()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._tick.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tick.stop()  # nobody sees how the time passes
        focus = QApplication.focusWidget()
        if focus is not None and (focus is self or self.isAncestorOf(focus)):
            self.focus_left.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        question = self.question
        if question is None:
            return
        theme = self._hub.theme
        painter = QPainter(self)
        box = QRectF(self.rect())
        radius = theme.radius("composer")
        head = theme.size("permission-head")
        rounded(painter, box, radius, fill=theme.color("bg.popup"))
        painter.save()
        shape = QPainterPath()
        shape.addRoundedRect(box, radius, radius)
        painter.setClipPath(shape)
        painter.fillRect(QRectF(0, 0, self.width(), head), theme.color("warning.tint"))
        painter.restore()
        rounded(painter, box, radius, line=theme.color("warning.line"))
        self._paint_head(painter, question, head)
        if self._own:
            draw_text(painter, theme, self._label, tr("The agent calls it:"), style="small", token="text.secondary")
        for place, icon, token, text in self._drawn:
            draw_icon(painter, theme, icon, token, place.x(), place.y() + 1, 14)
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("text.secondary"))
            painter.drawText(place.adjusted(_ICON, 0, 0, 0), _WRAP, text)

    def _paint_head(self, painter: QPainter, question: Question, head: int) -> None:
        theme = self._hub.theme
        icon = "warning" if question.hold is not Hold.NONE else "status-needs-you"
        draw_icon(painter, theme, icon, "warning.text", _PAD, (head - 16) // 2)
        right = float(self.width() - _PAD)
        for text in (words.waiting(question.asked_at, self._now_ms()), words.one_of(len(self._questions))):
            if text:
                width = text_width(theme, "small", text)
                place = QRectF(right - width, 0, width + 1, head)
                draw_text(painter, theme, place, text, style="small", token="text.tertiary", elide=None)
                right -= width + 12
        box = QRectF(_PAD + 24, 0, right - _PAD - 24 - 8, head)
        draw_text(painter, theme, box, words.headline(question), weight=600)
