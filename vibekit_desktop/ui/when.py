"""How a moment and a duration are said: short times, groups of days, "14 Jan, 09:15", "1 m 12 s".

Nothing else in the window formats a time. Pure but for `local_now_ms`; times are Unix milliseconds.
"""

import time
from datetime import date, datetime, timedelta
from enum import IntEnum
from typing import NamedTuple

from PySide6.QtCore import QDate, QDateTime, QLocale

from vibekit_desktop.ui.text import tr, tr_n


def local_now_ms() -> int:
    """This moment as Unix milliseconds; the clock of every view that is given none."""
    return time.time_ns() // 1_000_000


class Group(IntEnum):
    """The groups of the chat list, newest first."""

    TODAY = 0
    YESTERDAY = 1
    WEEK = 2
    OLDER = 3


def group_name(group: Group) -> str:
    """The header over a group of chats."""
    match group:
        case Group.TODAY:
            return tr("Today")
        case Group.YESTERDAY:
            return tr("Yesterday")
        case Group.WEEK:
            return tr("Earlier this week")
        case Group.OLDER:
            return tr("Older")


def local(at_ms: int) -> datetime:
    """A moment in the computer's own time; moments outside the calendar are moved to its start."""
    try:
        return datetime.fromtimestamp(at_ms / 1000)
    except (OverflowError, OSError, ValueError):
        return datetime(1970, 1, 1)


def _week_start(day: date) -> date:
    first = QLocale().firstDayOfWeek().value  # Monday is 1
    return day - timedelta(days=(day.isoweekday() - first) % 7)


class Bounds(NamedTuple):
    """Where the groups begin, as Unix milliseconds; for sorting many moments into groups."""

    today: int
    yesterday: int
    week: int

    def group_at(self, at_ms: int) -> Group:
        """The group of a moment. What lies in the future is today's."""
        if at_ms >= self.today:
            return Group.TODAY
        if at_ms >= self.yesterday:
            return Group.YESTERDAY
        return Group.WEEK if at_ms >= self.week else Group.OLDER


def bounds(now_ms: int) -> Bounds:
    """The groups as they are now."""
    today = local(now_ms).date()
    days = (today, today - timedelta(days=1), _week_start(today))
    return Bounds(*(int(datetime(day.year, day.month, day.day).timestamp() * 1000) for day in days))


def group_of(at_ms: int, now_ms: int) -> Group:
    """The group of a moment, seen from now."""
    return bounds(now_ms).group_at(at_ms)


def clock_time(at_ms: int) -> str:
    """Hour and minute, like "14:02"."""
    return _clock(local(at_ms))


def _clock(moment: datetime) -> str:
    return f"{moment.hour:02d}:{moment.minute:02d}"  # timelines have thousands of them: `strftime` takes ten times as long


def short_time(at_ms: int, now_ms: int) -> str:
    """The time in a row of the chat list: now, 12 min, 14:02, Tue, 12 Aug, Aug 2024."""
    age_s = (now_ms - at_ms) // 1000
    moment, today = local(at_ms), local(now_ms).date()
    group = group_of(at_ms, now_ms)
    if age_s < 60 and group is Group.TODAY:
        return tr("now")
    if age_s < 3600:
        return tr("{n} min", n=age_s // 60)
    if group in (Group.TODAY, Group.YESTERDAY):
        return clock_time(at_ms)
    locale = QLocale()
    day = QDate(moment.year, moment.month, moment.day)
    if group is Group.WEEK:
        return locale.toString(day, "ddd")
    return locale.toString(day, "d MMM" if moment.year == today.year else "MMM yyyy")


def spoken_age(at_ms: int, now_ms: int) -> str:
    """The age in a whole phrase, for assistive technology."""
    minutes = max(0, now_ms - at_ms) // 60_000
    if minutes < 1:
        return tr("now")
    if minutes < 60:
        return tr_n("{n} minute ago", "{n} minutes ago", minutes)
    return full_date(at_ms)


def full_date(at_ms: int) -> str:
    """Date and time in full, for tool tips."""
    moment = local(at_ms)
    stamp = QDateTime(moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second)
    return QLocale().toString(stamp, tr("dddd, d MMMM yyyy, HH:mm"))


def age_in_days(at_ms: int, now_ms: int) -> str:
    """How old the newest chat of a program is: today, yesterday, 3 weeks ago."""
    days = (local(now_ms).date() - local(at_ms).date()).days
    if days <= 0:
        return tr("today")
    if days == 1:
        return tr("yesterday")
    if days < 14:
        return tr_n("{n} day ago", "{n} days ago", days)
    if days < 60:
        return tr_n("{n} week ago", "{n} weeks ago", days // 7)
    if days < 730:
        return tr_n("{n} month ago", "{n} months ago", days // 30)
    return tr_n("{n} year ago", "{n} years ago", days // 365)


def duration(ms: int) -> str:
    """How long something took: 0.8 s, 48 s, 1 m 12 s, 2 h 05 m; empty if not known."""
    if ms <= 0:
        return ""
    if ms < 10_000:
        tenths = round(ms / 100)
        return tr("{n} s", n=f"{tenths / 10:g}" if ms < 9_950 else "10")
    seconds = round(ms / 1000)
    if seconds < 60:
        return tr("{n} s", n=seconds)
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return tr("{m} m {s} s", m=minutes, s=f"{seconds:02d}")
    hours, minutes = divmod(minutes, 60)
    return tr("{h} h {m} m", h=hours, m=f"{minutes:02d}")


def stamp(at_ms: int, now_ms: int) -> str:
    """A moment in full: "14:02" today, "12 Aug, 14:02" earlier, with the year if it is another one; empty if not known."""
    if at_ms <= 0:
        return ""
    moment, today = local(at_ms), local(now_ms).date()
    if moment.date() == today:
        return _clock(moment)
    form = "d MMM" if moment.year == today.year else "d MMM yyyy"
    day = QLocale().toString(QDate(moment.year, moment.month, moment.day), form)
    return tr("{day}, {time}", day=day, time=_clock(moment))
