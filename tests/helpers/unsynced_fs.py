"""A disk on which syncing costs nothing: for tests in which a process may stop, but no power goes."""

from vibekit_desktop.core.disk.fs import Fs


class Unsynced(Fs):
    """A process that stops loses nothing that it wrote."""

    def fsync(self, fd: int) -> None:
        return
