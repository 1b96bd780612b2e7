"""Ask where a new file goes, with the dialog of the system; nothing is ever replaced. UI thread only."""

from collections.abc import Callable

from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtWidgets import QFileDialog, QWidget


def documents() -> str:
    """Where files begin that a person makes."""
    return QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)


def ask_for_place(parent: QWidget, title: str, folder: str, name: str, then: Callable[[str], object]) -> None:
    """Open the dialog in a folder with a name; ``then`` is told the place, if there is to be one."""
    dialog = QFileDialog(parent, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)  # whoever writes refuses a place that is taken
    dialog.setDirectory(folder)
    dialog.setDefaultSuffix(name.rpartition(".")[2])
    dialog.selectFile(name)
    dialog.fileSelected.connect(then)
    dialog.open()
