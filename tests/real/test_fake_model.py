"""The model by script that the real agents talk to: what it answers, in each of the three shapes, streamed and at once."""

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.fake_model import FakeModel, Step, read_scripts, step_at
from tests.helpers.fake_model_wire import Call, value_of

SCRIPT = (
    Step("I look  first.", (Call("read", {"path": "a ü"}), Call("list", {}))),
    Step("", (Call("write", {"path": "b", "text": "x\n" * 40}),)),
    Step("Done."),
)


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with FakeModel({"work": SCRIPT, "wrong": (Step(status=429),), "long": (Step("At once.", wait_s=300),)}) as running:
        yield running


def ask(model: FakeModel, path: str, body: Any) -> bytes:
    request = urllib.request.Request(model.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        answer: bytes = response.read()
    return answer


def events(data: bytes) -> list[Any]:
    """The values of a stream of events."""
    lines = [line[6:] for line in data.decode().splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


# One agent of each kind: how it tells what was said, and how it reads an answer.


class Chat:
    path = "/v1/chat/completions"

    def body(self, prompts: list[str], *, results: int, tools: bool, stream: bool) -> Any:
        messages: list[Any] = [{"role": "system", "content": "play:nothing"}]
        for prompt in prompts:
            messages.append({"role": "user", "content": [{"type": "text", "text": prompt}]})
        for number in range(results):
            call = {"id": str(number), "type": "function", "function": {"name": "t", "arguments": "{}"}}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": str(number), "content": "play:nothing"})
        offered = [{"type": "function", "function": {"name": "read", "parameters": {}}}] if tools else []
        return {"model": "m", "messages": messages, "tools": offered, "stream": stream}

    def path_for(self, *, stream: bool) -> str:
        return self.path

    def read(self, data: bytes, *, stream: bool) -> tuple[str, list[tuple[str, Any]]]:
        if not stream:
            message = json.loads(data)["choices"][0]["message"]
            called = [(one["function"]["name"], one["function"]["arguments"]) for one in message.get("tool_calls", ())]
            return message["content"] or "", [(name, json.loads(arguments)) for name, arguments in called]
        words, names, pieces = "", dict[int, str](), dict[int, str]()
        for event in events(data):
            for choice in event["choices"]:
                words += choice["delta"].get("content") or ""
                for one in choice["delta"].get("tool_calls", ()):
                    names.setdefault(one["index"], one["function"].get("name", ""))
                    pieces[one["index"]] = pieces.get(one["index"], "") + one["function"]["arguments"]
        return words, [(names[number], json.loads(pieces[number])) for number in names]


class Messages:
    def body(self, prompts: list[str], *, results: int, tools: bool, stream: bool) -> Any:
        messages: list[Any] = [{"role": "user", "content": prompt} for prompt in prompts]
        for number in range(results):
            messages.append(
                {"role": "assistant", "content": [{"type": "tool_use", "id": str(number), "name": "t", "input": {}}]}
            )
            result = {"type": "tool_result", "tool_use_id": str(number), "content": "play:nothing"}
            messages.append({"role": "user", "content": [result]})
        return {"model": "m", "messages": messages, "tools": [{"name": "read"}] if tools else [], "stream": stream}

    def path_for(self, *, stream: bool) -> str:
        return "/v1/messages?beta=true"

    def read(self, data: bytes, *, stream: bool) -> tuple[str, list[tuple[str, Any]]]:
        if not stream:
            blocks = json.loads(data)["content"]
            words = "".join(block["text"] for block in blocks if block["type"] == "text")
            return words, [(block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"]
        words, names, pieces = "", dict[int, str](), dict[int, str]()
        for event in events(data):
            if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use":
                names[event["index"]] = event["content_block"]["name"]
            if event["type"] == "content_block_delta":
                words += event["delta"].get("text", "")
                pieces[event["index"]] = pieces.get(event["index"], "") + event["delta"].get("partial_json", "")
        return words, [(name, json.loads(pieces[number])) for number, name in names.items()]


class Generate:
    def body(self, prompts: list[str], *, results: int, tools: bool, stream: bool) -> Any:
        contents: list[Any] = [{"role": "user", "parts": [{"text": prompt}]} for prompt in prompts]
        for _ in range(results):
            contents.append({"role": "model", "parts": [{"functionCall": {"name": "t", "args": {}}}]})
            response = {"name": "t", "response": {"output": "play:nothing"}}
            contents.append({"role": "user", "parts": [{"functionResponse": response}]})
        return {"contents": contents, "tools": [{"functionDeclarations": [{"name": "read"}]}] if tools else []}

    def path_for(self, *, stream: bool) -> str:
        return "/v1beta/models/m:" + ("streamGenerateContent?alt=sse" if stream else "generateContent")

    def read(self, data: bytes, *, stream: bool) -> tuple[str, list[tuple[str, Any]]]:
        answers = events(data) if stream else [json.loads(data)]
        parts = [part for answer in answers for part in answer["candidates"][0]["content"]["parts"]]
        called = [part["functionCall"] for part in parts if "functionCall" in part]
        return "".join(part.get("text", "") for part in parts), [(call["name"], call["args"]) for call in called]


Shape = Chat | Messages | Generate
SHAPES = (Chat(), Messages(), Generate())
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
streamed_or_not = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "at-once"])


def say(
    model: FakeModel, shape: Shape, prompts: list[str], *, results: int = 0, tools: bool = True, stream: bool = True
) -> tuple[str, list[tuple[str, Any]]]:
    body = shape.body(prompts, results=results, tools=tools, stream=stream)
    return shape.read(ask(model, shape.path_for(stream=stream), body), stream=stream)


@each_shape
@streamed_or_not
def test_a_script_is_said_step_by_step(model: FakeModel, shape: Shape, stream: bool) -> None:
    prompts = ["please play:work"]
    assert say(model, shape, prompts, stream=stream) == ("I look  first.", [("read", {"path": "a ü"}), ("list", {})])
    assert say(model, shape, prompts, results=2, stream=stream) == ("", [("write", {"path": "b", "text": "x\n" * 40})])
    assert say(model, shape, prompts, results=3, stream=stream) == ("Done.", [])
    assert [asked.step for asked in model.played("work")] == [0, 1, 2]


@each_shape
def test_the_newest_prompt_chooses_and_results_of_tools_choose_nothing(model: FakeModel, shape: Shape) -> None:
    say(model, shape, ["play:other", "again play:work"], results=1)
    assert (model.asked[-1].play, model.asked[-1].step) == ("work", 0)
    assert model.asked[-1].prompts == ("play:other", "again play:work")


@each_shape
@streamed_or_not
def test_a_request_without_tools_or_without_a_script_gets_a_word(model: FakeModel, shape: Shape, stream: bool) -> None:
    assert say(model, shape, ["a title for: play:work"], tools=False, stream=stream) == ("Scripted", [])
    assert say(model, shape, ["hello"], stream=stream) == ("Scripted", [])
    assert [asked.play for asked in model.asked] == [None, None]


def test_who_asks_for_json_gets_json_of_that_form(model: FakeModel) -> None:
    form = {
        "type": "object",
        "properties": {"next_speaker": {"enum": ["model", "user"]}, "score": {"type": "integer", "minimum": 3}, "more": {}},
        "required": ["next_speaker", "score"],
    }
    wanted = {"next_speaker": "user", "score": 3}
    config = {"responseMimeType": "application/json", "responseJsonSchema": form}
    body = {"contents": [{"role": "user", "parts": [{"text": "who is next?"}]}], "generationConfig": config}
    said = json.loads(ask(model, "/v1beta/models/m:generateContent", body))
    assert json.loads(said["candidates"][0]["content"]["parts"][0]["text"]) == wanted
    body = {"messages": [], "output_config": {"format": {"type": "json_schema", "schema": form}}}
    assert json.loads(json.loads(ask(model, "/v1/messages", body))["content"][0]["text"]) == wanted
    body = {"messages": [], "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": form}}}
    assert json.loads(json.loads(ask(model, "/v1/chat/completions", body))["choices"][0]["message"]["content"]) == wanted


def test_the_least_value_of_a_schema_has_its_shape() -> None:
    assert value_of({"type": ["array", "null"], "items": {"type": "BOOLEAN"}, "minItems": 2}) == [False, False]
    assert value_of({"anyOf": [{"const": "x"}, {"type": "null"}]}) == "x"
    assert value_of({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}) == {"a": "scripted"}


def test_tokens_are_counted_and_what_is_not_there_says_so(model: FakeModel) -> None:
    assert json.loads(ask(model, "/v1/messages/count_tokens", {}))["input_tokens"] == 100
    assert json.loads(ask(model, "/v1beta/models/m:countTokens", {}))["totalTokens"] == 100
    with pytest.raises(urllib.error.HTTPError, match="404") as refused:
        ask(model, "/v1/elsewhere", {})
    refused.value.close()
    with pytest.raises(urllib.error.HTTPError, match="429") as refused:
        say(model, SHAPES[1], ["play:wrong"])
    refused.value.close()


def test_words_come_before_the_wait_and_closing_cuts_it_off(model: FakeModel) -> None:
    body = SHAPES[0].body(["play:long"], results=0, tools=True, stream=True)
    request = urllib.request.Request(model.url + SHAPES[0].path, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=30) as response:
        while b'"once."' not in response.readline():
            pass  # the beginning of the answer
        model.close()
        rest = response.read()
    assert b"[DONE]" in rest


def test_it_can_be_waited_for_what_is_asked(model: FakeModel) -> None:
    assert not model.wait_until(bool, limit_s=0)
    say(model, SHAPES[2], ["play:work"])
    assert model.wait_until(lambda asked: any(one.play == "work" for one in asked), limit_s=0)


def test_parallel_calls_are_done_once_all_their_results_are_there() -> None:
    assert [step_at(SCRIPT, results) for results in range(5)] == [0, 0, 1, 2, 2]
    assert step_at(SCRIPT[:1], 2) == 1


def test_a_script_can_come_from_a_file(tmp_path: Path) -> None:
    text = json.dumps(
        {"work": [{"say": "in ${W}", "calls": [{"tool": "t", "arguments": {"a": ["${W}/x", 1]}}]}, {"wait_s": 2}]}
    )
    read = read_scripts(text, {"W": "/here"})
    assert read == {"work": [Step("in /here", (Call("t", {"a": ["/here/x", 1]}),)), Step(wait_s=2)]}
    log = tmp_path / "log"
    with FakeModel(read, log=log) as model:
        say(model, SHAPES[0], ["play:work"])
    assert json.loads(log.read_text("utf-8")) == {
        "path": "/v1/chat/completions",
        "play": "work",
        "step": 0,
        "prompts": ["play:work"],
        "tools": ["read"],
    }
