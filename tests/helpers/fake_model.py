"""A model that says what a script says: coding agents work with it offline, and the test sees all that they asked it.

A server on 127.0.0.1 that speaks OpenAI's chat completions, Anthropic's messages and Gemini's generateContent, streamed and at
once (`fake_model_wire`). It keeps no state between requests: a prompt that contains ``play:NAME`` chooses the script, and the
results of tools since that prompt say how far it is. A request that has no such prompt or offers no tools is one of the side
questions that agents ask (a title, whose turn it is): it gets something that fits the form it asks for.

    with FakeModel({"work": [Step("I look.", (Call("read", {"path": "a"}),)), Step("Done.")]}) as model: ...
    python3 -m tests.helpers.fake_model script.json [--port N] [--set NAME=VALUE] [--log FILE]

script.json: ``{"work": [{"say", "calls": [{"tool", "arguments"}], "wait_s", "status"}, ...]}``; ``${NAME}`` in its words is
replaced. Threads of its own; `close` ends them.
"""

import argparse
import json
import re
import string
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

from tests.helpers.fake_model_wire import Call, Json, Saying, Talk, Wire, wire_for

_CHOICE = re.compile(r"\bplay:([\w.-]+)")


@dataclass(frozen=True)
class Step:
    """One answer of the model: words, then calls of tools; without calls it ends the turn. ``wait_s``: for so long nothing more
    comes after the words. ``status``: not an answer but this HTTP status."""

    say: str = ""
    calls: Sequence[Call] = ()
    wait_s: float = 0.0
    status: int = 200


Scripts = Mapping[str, Sequence[Step]]


@dataclass(frozen=True)
class Asked:
    """One request that reached the model. ``play``: the script that its prompt chose, None for a side question; ``step`` is how
    far it was then."""

    path: str
    body: Mapping[str, Json]
    talk: Talk
    play: str | None
    step: int

    @property
    def prompts(self) -> tuple[str, ...]:
        """What the user said, as far as the model is told, oldest first."""
        return self.talk.prompts


def step_at(steps: Sequence[Step], results: int) -> int:
    """Which step comes next when so many results of tools are there; past the last one if all have been said."""
    for number, step in enumerate(steps):
        results -= len(step.calls)
        if results < 0 or not step.calls:
            return number
    return len(steps)


class FakeModel:
    """The server, from ``with`` to its end. ``asked`` is everything that it was asked, side questions included."""

    def __init__(self, scripts: Scripts, *, port: int = 0, log: Path | None = None) -> None:
        self.scripts = dict(scripts)
        self._asked: list[Asked] = []
        self._news = threading.Condition()
        self._closing = threading.Event()
        self._log = log
        model = self

        class Handler(_Handler):
            owner = model

        self._server = _Server(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="fake model")

    @property
    def url(self) -> str:
        """Where it is, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it; answers that wait are cut off."""
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def asked(self) -> Sequence[Asked]:
        """Everything so far, in order."""
        with self._news:
            return tuple(self._asked)

    def played(self, name: str) -> Sequence[Asked]:
        """What was asked in the course of one script."""
        return tuple(asked for asked in self.asked if asked.play == name)

    def wait_until(self, true: Callable[[Sequence[Asked]], bool], *, limit_s: float = 60.0) -> bool:
        """Wait until what was asked so far is so; False if it never was."""
        with self._news:
            return self._news.wait_for(lambda: true(tuple(self._asked)), limit_s)

    def answer(self, path: str, body: Mapping[str, Json], wire: Wire) -> Step | None:
        """What comes next in the script that the newest prompt chose; None: a side question. Written down either way."""
        talk = wire.talk(body)
        play, results = None, 0
        for turn in talk.turns:
            if turn.results:
                results += turn.results
            chosen = _CHOICE.findall(turn.prompt)
            if chosen:
                play, results = str(chosen[-1]), 0
        if not talk.tools:
            play = None
        steps = self.scripts.get(play, ()) if play else ()
        number = step_at(steps, results)
        with self._news:
            self._asked.append(Asked(path, body, talk, play, number))
            self._news.notify_all()
        if self._log is not None:
            line = {"path": path, "play": play, "step": number, "prompts": list(talk.prompts), "tools": list(talk.tools)}
            with self._news, self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        if play is None:
            return None
        return steps[number] if number < len(steps) else Step("There is nothing more to do.")

    def pause(self, seconds: float) -> None:
        """Let a time pass, unless the server is closed."""
        self._closing.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a thread that writes to an agent which does not read any more must not hold the test up

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # agents hang up when they are stopped
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # typeshed: only sockets


class _Handler(BaseHTTPRequestHandler):
    """One connection of an agent's."""

    protocol_version = "HTTP/1.1"
    owner: FakeModel

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._send(b"")

    def do_GET(self) -> None:
        """Which models there are, for all who ask."""
        self._send_json({"object": "list", "data": [{"id": "fake", "object": "model", "created": 0, "owned_by": "nobody"}]})

    def do_POST(self) -> None:
        """A question to the model."""
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        if "count" in path and "okens" in path:
            self._send_json({"totalTokens": 100, "input_tokens": 100})
            return
        wire = wire_for(path)
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if wire is None or not isinstance(body, dict):
            self._send_json({"error": {"type": "not_found_error", "message": "nothing is here"}}, status=404)
            return
        step = self.owner.answer(path, body, wire)
        if step is None:
            step = Step(wire.side_answer(body))
        if step.status != 200:
            self._send_json(
                {"error": {"type": "api_error", "code": step.status, "message": "the script fails"}}, status=step.status
            )
            return
        saying = Saying(step.say, tuple(step.calls))
        if not wire.streamed(path, body):
            self.owner.pause(step.wait_s)
            self._send_json(wire.whole(body, saying))
            return
        self._stream(wire.pieces(body, saying), step.wait_s)

    def _send(self, data: bytes, status: int = 200, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _send_json(self, value: Json, *, status: int = 200) -> None:
        self._send(json.dumps(value).encode(), status)

    def _stream(self, pieces: Iterator[bytes | None], wait_s: float) -> None:
        """Server-sent events; a None among the pieces is where the words end."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for piece in pieces:
            if piece is None:
                self.owner.pause(wait_s)
                continue
            self.wfile.write(piece)
            self.wfile.flush()


def read_scripts(text: str, values: Mapping[str, str]) -> dict[str, list[Step]]:
    """The scripts of a file, with ``values`` put in."""

    def filled(value: Json) -> Json:
        match value:
            case str():
                return string.Template(value).safe_substitute(values)
            case list():
                return [filled(item) for item in value]
            case dict():
                return {key: filled(item) for key, item in value.items()}
        return value

    def step(raw: dict[str, Json]) -> Step:
        calls = tuple(Call(call["tool"], call.get("arguments", {})) for call in raw.pop("calls", ()))
        return Step(calls=calls, **raw)

    return {name: [step(raw) for raw in steps] for name, steps in filled(json.loads(text)).items()}


def main(words: Sequence[str]) -> int:
    """Serve a script until interrupted; the address is the first line printed."""
    parser = argparse.ArgumentParser(
        prog="fake_model", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("script", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--log", type=Path)
    options = parser.parse_args(words)
    values = dict(str(word).split("=", 1) for word in options.set)
    scripts = read_scripts(options.script.read_text("utf-8"), values)
    with FakeModel(scripts, port=options.port, log=options.log) as model:
        print(model.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
