"""The shapes in which agents talk to a model: OpenAI's chat completions, Anthropic's messages, Gemini's generateContent.

Pure: what a request says as values, and what an answer looks like as bytes. See `fake_model` for what is answered.
"""

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Json = Any

_IDS = itertools.count(1)
_USED, _SAID = 100, 10


def _new_id(prefix: str) -> str:
    return f"{prefix}{next(_IDS):012d}"


@dataclass(frozen=True)
class Call:
    """A call of one of the agent's tools."""

    tool: str
    arguments: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Saying:
    """What the model says now."""

    words: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Turn:
    """One message of a request: what the user said in it, what the model said, or how many results of tools it brings."""

    prompt: str = ""
    answer: str = ""
    results: int = 0
    result: str = ""
    """The text of the results."""


@dataclass(frozen=True)
class Talk:
    """A request: its messages in order, and the names of the tools that are offered."""

    turns: tuple[Turn, ...]
    tools: tuple[str, ...]

    @property
    def prompts(self) -> tuple[str, ...]:
        """What the user said, oldest first."""
        return tuple(turn.prompt for turn in self.turns if turn.prompt)

    @property
    def answers(self) -> tuple[str, ...]:
        """What the model is told that it said, oldest first."""
        return tuple(turn.answer for turn in self.turns if turn.answer)

    @property
    def results(self) -> tuple[str, ...]:
        """What tools gave, oldest first."""
        return tuple(turn.result for turn in self.turns if turn.results)


class Wire(Protocol):
    """One of the three. In ``pieces`` a None stands where the words end and the calls begin."""

    def talk(self, body: Mapping[str, Json]) -> Talk: ...
    def streamed(self, path: str, body: Mapping[str, Json]) -> bool: ...
    def side_answer(self, body: Mapping[str, Json]) -> str: ...
    def whole(self, body: Mapping[str, Json], saying: Saying) -> Json: ...
    def pieces(self, body: Mapping[str, Json], saying: Saying) -> Iterator[bytes | None]: ...


def wire_for(path: str) -> Wire | None:
    """Which of them a path means."""
    if path.endswith("/chat/completions"):
        return _ChatCompletions()
    if path.endswith("/messages"):
        return _Messages()
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return _GenerateContent()
    return None


def value_of(schema: Mapping[str, Json]) -> Json:
    """The least value of a JSON schema: what a model would say that has no opinion. Who is asked to speak next is the user, or
    the agent would go on by itself."""
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return "user" if "user" in schema["enum"] else schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return value_of(schema[key][0])
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0]
    match str(kind).lower():
        case "object":
            properties = schema.get("properties", {})
            return {name: value_of(properties.get(name, {})) for name in schema.get("required", properties)}
        case "array":
            return [value_of(schema.get("items", {})) for _ in range(int(schema.get("minItems", 0)))]
        case "integer" | "number":
            return max(1, schema.get("minimum", 1))
        case "boolean":
            return False
        case _:
            return "scripted"


def _side(schema: Mapping[str, Json] | None) -> str:
    return "Scripted" if schema is None else json.dumps(value_of(schema))


def _text(content: Json) -> str:
    """The words of a content, whatever shape it has; images and calls have none."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return _text(content.get("text") or content.get("content") or content.get("output") or "")
    if isinstance(content, Sequence):
        return "\n".join(filter(None, map(_text, content)))
    return ""


def _split(text: str) -> list[str]:
    """Words one by one, as models stream them; what is between them belongs to the one before."""
    return re.findall(r"\S+\s*|\s+", text)


def _halves(text: str) -> tuple[str, str]:
    """A text in two pieces: arguments of calls never come at once."""
    return text[: len(text) // 2], text[len(text) // 2 :]


def _event(value: Json, name: str = "") -> bytes:
    data = value if isinstance(value, str) else json.dumps(value)
    return (f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode()


class _ChatCompletions:
    def talk(self, body: Mapping[str, Json]) -> Talk:
        turns = []
        for message in body.get("messages", ()):
            text = _text(message.get("content"))
            match message.get("role"):
                case "user":
                    turns.append(Turn(prompt=text))
                case "assistant":
                    turns.append(Turn(answer=text))
                case "tool":
                    turns.append(Turn(results=1, result=text))
                case _:
                    pass  # instructions of the agent's own
        return Talk(tuple(turns), tuple(tool["function"]["name"] for tool in body.get("tools") or ()))

    def streamed(self, path: str, body: Mapping[str, Json]) -> bool:
        return bool(body.get("stream"))

    def side_answer(self, body: Mapping[str, Json]) -> str:
        form = body.get("response_format") or {}
        if form.get("type") == "json_object":
            return "{}"
        return _side(form["json_schema"].get("schema") if "json_schema" in form else None)

    def _base(self, body: Mapping[str, Json], kind: str) -> dict[str, Json]:
        return {"id": _new_id("chatcmpl-"), "object": kind, "created": 0, "model": body.get("model") or "fake"}

    def _usage(self) -> Json:
        return {"prompt_tokens": _USED, "completion_tokens": _SAID, "total_tokens": _USED + _SAID}

    def whole(self, body: Mapping[str, Json], saying: Saying) -> Json:
        message: dict[str, Json] = {"role": "assistant", "content": saying.words or None}
        if saying.calls:
            message["tool_calls"] = [
                {
                    "id": _new_id("call_"),
                    "type": "function",
                    "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
                }
                for call in saying.calls
            ]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if saying.calls else "stop"}
        return {**self._base(body, "chat.completion"), "choices": [choice], "usage": self._usage()}

    def pieces(self, body: Mapping[str, Json], saying: Saying) -> Iterator[bytes | None]:
        base = self._base(body, "chat.completion.chunk")

        def chunk(delta: Json, finish: str | None = None) -> bytes:
            return _event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

        yield chunk({"role": "assistant", "content": ""})
        for word in _split(saying.words):
            yield chunk({"content": word})
        yield None
        for number, call in enumerate(saying.calls):
            first, second = _halves(json.dumps(call.arguments))
            begun = {
                "index": number,
                "id": _new_id("call_"),
                "type": "function",
                "function": {"name": call.tool, "arguments": first},
            }
            yield chunk({"tool_calls": [begun]})
            yield chunk({"tool_calls": [{"index": number, "function": {"arguments": second}}]})
        yield chunk({}, "tool_calls" if saying.calls else "stop")
        yield _event({**base, "choices": [], "usage": self._usage()})
        yield _event("[DONE]")


class _Messages:
    def talk(self, body: Mapping[str, Json]) -> Talk:
        turns = []
        for message in body.get("messages", ()):
            content = message.get("content")
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
            text = _text([block for block in blocks if block.get("type") == "text"])
            results = [block for block in blocks if block.get("type") == "tool_result"]
            if message.get("role") == "assistant":
                turns.append(Turn(answer=text))
            elif message.get("role") == "user":
                turns.append(Turn(prompt=text, results=len(results), result=_text([one.get("content") for one in results])))
        return Talk(tuple(turns), tuple(tool["name"] for tool in body.get("tools") or ()))

    def streamed(self, path: str, body: Mapping[str, Json]) -> bool:
        return bool(body.get("stream"))

    def side_answer(self, body: Mapping[str, Json]) -> str:
        form = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
        return _side(form.get("schema"))

    def _message(self, body: Mapping[str, Json]) -> dict[str, Json]:
        return {
            "id": _new_id("msg_"),
            "type": "message",
            "role": "assistant",
            "model": body.get("model") or "fake",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": _USED, "output_tokens": _SAID},
        }

    def _blocks(self, saying: Saying) -> list[dict[str, Json]]:
        words: list[dict[str, Json]] = [{"type": "text", "text": saying.words}] if saying.words else []
        return words + [
            {"type": "tool_use", "id": _new_id("toolu_"), "name": call.tool, "input": dict(call.arguments)}
            for call in saying.calls
        ]

    def whole(self, body: Mapping[str, Json], saying: Saying) -> Json:
        stop = "tool_use" if saying.calls else "end_turn"
        return {**self._message(body), "content": self._blocks(saying), "stop_reason": stop}

    def pieces(self, body: Mapping[str, Json], saying: Saying) -> Iterator[bytes | None]:
        def event(kind: str, **rest: Json) -> bytes:
            return _event({"type": kind, **rest}, kind)

        yield event("message_start", message=self._message(body))
        waited = False
        for number, block in enumerate(self._blocks(saying)):
            if block["type"] == "text":
                yield event("content_block_start", index=number, content_block={"type": "text", "text": ""})
                for word in _split(saying.words):
                    yield event("content_block_delta", index=number, delta={"type": "text_delta", "text": word})
            else:
                if not waited:
                    waited = True
                    yield None
                yield event("content_block_start", index=number, content_block={**block, "input": {}})
                for half in _halves(json.dumps(block["input"])):
                    yield event("content_block_delta", index=number, delta={"type": "input_json_delta", "partial_json": half})
            yield event("content_block_stop", index=number)
        if not waited:
            yield None
        stop = "tool_use" if saying.calls else "end_turn"
        yield event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": _SAID})
        yield event("message_stop")


class _GenerateContent:
    def talk(self, body: Mapping[str, Json]) -> Talk:
        turns = []
        for message in body.get("contents", ()):
            parts = message.get("parts") or ()
            text = _text([part for part in parts if "text" in part])
            results = [part["functionResponse"] for part in parts if "functionResponse" in part]
            if message.get("role") == "model":
                turns.append(Turn(answer=text))
            else:
                given = _text([one.get("response") for one in results])
                turns.append(Turn(prompt=text, results=len(results), result=given))
        offered = [tool for group in body.get("tools") or () for tool in group.get("functionDeclarations") or ()]
        return Talk(tuple(turns), tuple(tool["name"] for tool in offered))

    def streamed(self, path: str, body: Mapping[str, Json]) -> bool:
        return path.endswith(":streamGenerateContent")

    def side_answer(self, body: Mapping[str, Json]) -> str:
        form = body.get("generationConfig") or {}
        if form.get("responseMimeType") != "application/json":
            return _side(None)
        return _side(form.get("responseJsonSchema") or form.get("responseSchema") or {"type": "object"})

    def _answer(self, parts: Sequence[Json], *, last: bool) -> Json:
        candidate: dict[str, Json] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
        if last:
            candidate["finishReason"] = "STOP"
        usage = {"promptTokenCount": _USED, "candidatesTokenCount": _SAID, "totalTokenCount": _USED + _SAID}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}

    def _calls(self, saying: Saying) -> list[Json]:
        return [
            {
                "functionCall": {"id": _new_id("call_"), "name": call.tool, "args": dict(call.arguments)},
                "thoughtSignature": "c2lnbmVk",
            }
            for call in saying.calls
        ]

    def whole(self, body: Mapping[str, Json], saying: Saying) -> Json:
        words = [{"text": saying.words}] if saying.words else []
        return self._answer(words + self._calls(saying), last=True)

    def pieces(self, body: Mapping[str, Json], saying: Saying) -> Iterator[bytes | None]:
        for word in _split(saying.words):
            yield _event(self._answer([{"text": word}], last=False))
        yield None
        yield _event(self._answer(self._calls(saying) or [{"text": ""}], last=True))
