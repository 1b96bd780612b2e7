"""The piece of work that the real agents do: it creates, edits and deletes files, with their own tools and with commands."""

from collections.abc import Mapping

from tests.helpers.fake_model import Step
from tests.helpers.lab import SEED, Lab

BY_TOOLS: Mapping[str, bytes | None] = {
    "made/by/new.txt": b"fresh\nfile\n",
    "made/by/other.txt": b"another\n",
    "old.txt": b"alpha\nBETA\ngamma\n",
    "src/deep/inner.py": b"def level():\n    return 2\n",
}
"""What the agent changes with its tools for files, and to what."""

BY_COMMANDS: Mapping[str, bytes | None] = {
    "side.txt": b"stay\n",
    "kept/picture.bin": b"a\0b",
    "made.txt": b"x\n",
    "doomed.txt": None,
}
"""What commands change: nobody announces these paths. None: it is gone."""

CHANGED = {**BY_TOOLS, **BY_COMMANDS}
AFTER = {path: data for path, data in {**SEED, **CHANGED}.items() if data is not None}
"""What is in the workspace afterwards."""

ANSWER = "All is done."
PROMPT = "Please make it level two. play:work"


def give(lab: Lab) -> None:
    """Teach the model the work, in the words of this lab's agent."""
    do, at = lab.kind, lab.at
    plan = [Step("A plan first.", (do.plan("make it level two"),))] if do.plan else []
    lab.play(
        "work",
        *plan,
        Step("I look.", (do.read(at("old.txt")), do.read(at("src/deep/inner.py")))),
        # Two calls at once: some agents do them side by side.
        Step("I write.", (do.write(at("made/by/new.txt"), "fresh\nfile\n"), do.write(at("made/by/other.txt"), "another\n"))),
        Step("", (do.edit(at("old.txt"), "beta", "BETA"),)),
        Step("", (do.edit(at("src/deep/inner.py"), "return 1", "return 2"),)),
        Step("I run.", (do.run("sed -i s/gone/stay/ side.txt; printf 'a\\0b' > kept/picture.bin; echo x > made.txt"),)),
        Step("", (do.run("rm doomed.txt"),)),
        Step(ANSWER),
    )
