"""Every error the core can raise has a stable code and a sentence for people."""

import inspect
import re

import pytest

from vibekit_desktop.core.types import agent_errors, errors
from vibekit_desktop.core.types.errors import BugError, CoreError, EnvironmentFault, Refusal


def _all(kind: type[CoreError]) -> list[type[CoreError]]:
    return [kind] + [found for child in kind.__subclasses__() for found in _all(child)]


CLASSES = [kind for kind in _all(CoreError) if kind.__module__.startswith("vibekit_desktop.")]


def _example(kind: type[CoreError]) -> CoreError:
    """An error of this class with plausible facts, by the annotations of its constructor."""
    if kind.__init__ is Exception.__init__:
        return kind()
    values: list[object] = []
    for parameter in list(inspect.signature(kind).parameters.values()):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY):
            continue
        annotation = str(parameter.annotation)
        if parameter.annotation is int:
            values.append(7)
        elif "Sequence" in annotation or "tuple" in annotation:
            values.append((1, 2) if "int" in annotation else ("a/b.py",))
        else:
            values.append("a/b.py")
    return kind(*values)


def test_codes_are_unique_and_well_formed() -> None:
    codes = [kind.code for kind in CLASSES]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[a-z]+\.[a-z]+(-[a-z]+)*", code) for code in codes)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.code)
def test_every_error_belongs_to_one_branch(kind: type[CoreError]) -> None:
    branches = [branch for branch in (Refusal, EnvironmentFault, BugError) if issubclass(kind, branch)]
    assert kind is CoreError or len(branches) == 1
    assert kind.__module__ in (errors.__name__, agent_errors.__name__)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.code)
def test_every_error_has_a_sentence_for_the_window(kind: type[CoreError]) -> None:
    error_text = pytest.importorskip("vibekit_desktop.ui.error_text")
    text = error_text.sentence(_example(kind))
    assert text.title.strip()
    assert kind.__name__ not in text.title


def test_an_example_can_be_made_of_every_error() -> None:
    for kind in CLASSES:
        assert isinstance(_example(kind), kind)
