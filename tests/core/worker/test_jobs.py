"""The jobs themselves, without a process."""

import io
from collections import OrderedDict

import pytest

from tests.core.worker.test_pool import NEW, OLD
from vibekit_desktop.core.diff.document import DEFAULT, Limits, build
from vibekit_desktop.core.highlight.lex import lex
from vibekit_desktop.core.types.diffs import EXACT, Compare
from vibekit_desktop.core.worker import jobs
from vibekit_desktop.core.worker.jobs import BuildJob, EndOfInput, Failed, Forgotten, LexJob, MoreJob, Unfinished, do


def build_job(old: bytes | None, new: bytes | None, limits: Limits = DEFAULT, how: Compare = EXACT) -> BuildJob:
    return BuildJob(old=old, new=new, old_mode=0o644, new_mode=0o755, compare=how, limits=limits)


@pytest.mark.parametrize(
    ("old", "new"),
    [(OLD, NEW), (OLD, OLD), (None, NEW), (OLD, None), (OLD, b"\0"), (OLD, OLD.replace(b"\n", b"\r\n")), (b"", b"a")],
)
@pytest.mark.parametrize("limits", [DEFAULT, Limits(lines=2)])
def test_a_diff_is_the_same_after_its_travels(old: bytes | None, new: bytes | None, limits: Limits) -> None:
    job = build_job(old, new, limits)
    stream = io.BytesIO()
    jobs.send(stream, do(job, OrderedDict()))
    stream.seek(0)
    found = jobs.diff(job, jobs.receive_answer(stream))
    assert found == build(old, new, old_mode=0o644, new_mode=0o755, limits=limits)


def test_colours_are_the_same_after_their_travels() -> None:
    lines = NEW.decode().split("\n")
    stream = io.BytesIO()
    jobs.send(stream, do(jobs.lex_job("a.py", NEW.decode()), OrderedDict()))
    stream.seek(0)
    assert jobs.colours(jobs.receive_answer(stream)) == lex("a.py", lines)
    assert jobs.colours(do(jobs.lex_job("a.unknown", NEW.decode()), OrderedDict())) is None


def test_an_error_tells_its_class_and_place_and_no_content() -> None:
    answer = do(LexJob(path=3, text="secret"), OrderedDict())  # type: ignore[arg-type]  # to make it fail
    assert isinstance(answer, Failed)
    assert answer.kind == "AttributeError"
    assert "secret" not in repr(answer)
    assert jobs.diff(build_job(OLD, NEW), answer) is None


@pytest.mark.parametrize("data", [b"", b"\0\0", b"\0\0\0\7half"])
def test_a_cut_message_is_the_end_of_the_input(data: bytes) -> None:
    with pytest.raises(EndOfInput):
        jobs.receive(io.BytesIO(data))


def test_a_long_text_goes_on_in_slices_and_is_forgotten_after_too_many_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "SLICE_S", 0.0)
    begun: jobs.Begun = OrderedDict()
    text = NEW.decode() * 200
    assert isinstance(do(jobs.lex_job("a.py", text, 1), begun), Unfinished)
    monkeypatch.setattr(jobs, "SLICE_S", 60.0)
    assert jobs.colours(do(MoreJob(1), begun)) == lex("a.py", text.split("\n"))
    assert isinstance(do(MoreJob(1), begun), Forgotten)
    monkeypatch.setattr(jobs, "SLICE_S", 0.0)
    for number in range(2, 2 + jobs.MOST_BEGUN + 1):
        do(jobs.lex_job("a.py", text, number), begun)
    assert len(begun) == jobs.MOST_BEGUN
    assert isinstance(do(MoreJob(2), begun), Forgotten)
