"""The words of errors that are about one chat as a whole, or about a setting: title and detail. UI thread only."""

from collections.abc import Callable, Mapping

from vibekit_desktop.core.types import errors
from vibekit_desktop.ui.text import tr

Words = tuple[str, str]


def _bad_setting(error: errors.BadSetting) -> Words:
    wanted = tr("It must be {wanted}. Nothing was changed.", wanted=error.wanted)
    return tr("“{text}” cannot be the value of {key}.", text=error.text, key=error.key), wanted


def _unknown_setting(error: errors.UnknownSetting) -> Words:
    return tr("There is no setting “{key}”.", key=error.key), tr("Nothing was changed.")


def _not_a_branch(_error: errors.NotABranch) -> Words:
    return tr("This chat is not a branch."), tr("Nothing was changed. Only a branch can be promoted, discarded or merged.")


def _nothing_to_merge(_error: errors.NothingToMerge) -> Words:
    return tr("The branch says nothing that its chat does not."), tr("Nothing was changed. Discard it if it is not needed.")


def _not_all_restored(error: errors.NotAllRestored) -> Words:
    return (
        tr("Not every file could be put back."),
        tr("What was put back is entry {entry} and can be undone. No branch was made.", entry=error.entry),
    )


def _gone(error: errors.ChatGone) -> Words:
    if error.reason == "archived":
        return tr("This chat is archived."), tr("Nothing was changed. Bring it back from the archive first.")
    return tr("This chat was deleted a moment ago."), tr("Nothing was written.")


def _in_use(_error: errors.ChatInUse) -> Words:
    return tr("A chat of this id is there already."), tr("Both were left as they are.")


def _open(_error: errors.ChatOpen) -> Words:
    return tr("A window has this chat open."), tr("It was left as it is. Close it there, then try again.")


def _draft_too_large(_error: errors.DraftTooLarge) -> Words:
    return tr("The draft is too long to be kept."), tr("What was kept before stays. Shorten it, or put it into a file.")


def _invalid_text(_error: errors.InvalidText) -> Words:
    return tr("The text holds broken characters."), tr("Nothing was written. Remove them and try again.")


def _export_too_large(error: errors.ExportTooLarge) -> Words:
    most = tr("One file may hold {size} MiB. Nothing was written; choose fewer files.", size=error.most >> 20)
    return tr("This is too much for one file."), most


def _comment_not_found(_error: errors.CommentNotFound) -> Words:
    return tr("This comment is not there any more."), tr("Nothing was changed. It was deleted meanwhile.")


def _comment_refused(error: errors.CommentRefused) -> Words:
    why = {
        "empty": tr("Nothing was kept. Write what you have to say first."),
        "too-long": tr("Nothing was kept. Shorten it, or put it into a file."),
        "too-many": tr("This chat has as many comments as it can hold. Delete some that are done."),
        "no-lines": tr("Nothing was kept. The file has no such lines there; it may have changed meanwhile."),
    }
    return tr("The comment was not kept."), why.get(error.reason, tr("Nothing was changed."))


WORDS: Mapping[type[errors.CoreError], Callable[..., Words]] = {
    errors.BadSetting: _bad_setting,
    errors.ExportTooLarge: _export_too_large,
    errors.CommentNotFound: _comment_not_found,
    errors.CommentRefused: _comment_refused,
    errors.UnknownSetting: _unknown_setting,
    errors.NotABranch: _not_a_branch,
    errors.NothingToMerge: _nothing_to_merge,
    errors.NotAllRestored: _not_all_restored,
    errors.ChatGone: _gone,
    errors.ChatInUse: _in_use,
    errors.ChatOpen: _open,
    errors.DraftTooLarge: _draft_too_large,
    errors.InvalidText: _invalid_text,
}
"""Every one of these has a sentence of its own."""
