"""Measure: ``python3 dev.py bench [NAME...]``.

Every figure is a ratio of two things measured in turns in the same run, the least of several, in processor time where one
thread's work is meant: milliseconds alone say more about the machine than about us.
"""

import sys

from tests.bench import agents, chats, diff, hour, opening, start, window

BENCHES = {
    "start": start.run,
    "diff": diff.run,
    "open": opening.run,
    "chats": chats.run,
    "agents": agents.run,
    "window": window.run,
    "hour": hour.run,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(BENCHES)}")
        return 2
    missed = [name for name in names or BENCHES if not BENCHES[name]()]
    if missed:
        print("over the aim: " + ", ".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
