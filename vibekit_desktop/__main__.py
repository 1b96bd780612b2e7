"""Start the program with ``python -m vibekit_desktop``, or its worker process with the hidden ``--worker``.

The worker is looked for before anything else is imported: it must start fast and never load Qt or the command line.
"""

import sys


def main() -> int:
    """Be the worker if asked, else the program; the exit status."""
    if sys.argv[1:2] == ["--worker"]:
        from vibekit_desktop.core.worker.jobs import serve

        return serve()
    from vibekit_desktop.app.main import main as start

    return start()


if __name__ == "__main__":
    sys.exit(main())
