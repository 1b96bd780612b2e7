"""What the scripted agent answers, and how it speaks: the part of `scripted_agent` that knows the protocol."""

import contextlib
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.helpers.scripted_misdeeds import Misdeeds
from tests.helpers.scripted_steps import JsonObject, Refused, Turn

SESSION_ABILITIES = ("list", "resume", "fork", "close")


class Agent:
    """Reads on the main thread; every prompt and every request with steps has a thread of its own."""

    def __init__(self, script: JsonObject) -> None:
        self.script = script
        self.behaviours: JsonObject = script.get("on", {})
        self.capabilities: JsonObject = {}
        self.folders: dict[str, Path] = {}
        self.turns: dict[str, Turn] = {}
        self.prompts = 0
        self.doing = Misdeeds(self)
        self.signed_in = False
        self.modes = script.get("modes")
        self.models = script.get("models")
        self.options = script.get("config_options")
        self._out = threading.Lock()
        self._ids = 0
        self._waiting: dict[int, queue.SimpleQueue[JsonObject]] = {}

    # -- the wire ------------------------------------------------------------------------------------------------

    def put(self, data: bytes) -> None:
        with self._out:
            view = memoryview(data)
            while view:
                view = view[os.write(1, view) :]

    def send(self, message: JsonObject) -> None:
        self.put(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def ask_client(self, method: str, params: JsonObject, *, wait: bool = True) -> Any:
        with self._out:
            self._ids += 1
            number = self._ids
        answers: queue.SimpleQueue[JsonObject] = queue.SimpleQueue()
        if wait:
            self._waiting[number] = answers
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        if not wait:
            return None
        answer = answers.get()
        if "error" in answer:
            raise Refused(answer["error"].get("code"), answer["error"].get("message"))
        return answer.get("result") or {}

    def update(self, session: str, kind: str, /, **fields: object) -> None:
        told = {"sessionUpdate": kind, **{name: value for name, value in fields.items() if value is not None}}
        self.send({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": told}})

    def run(self) -> None:
        if self.script.get("sigterm") == "ignore":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.doing.steps(Turn(self, "", None), self.script.get("start", []))
        for line in sys.stdin.buffer:
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                if log := self.script.get("log"):
                    with open(log, "ab") as file:
                        file.write(json.dumps(message).encode() + b"\n")
                if "method" in message:
                    self.received(message)
                elif waiting := self._waiting.pop(message.get("id"), None):
                    waiting.put(message)
        if self.script.get("eof") == "stay":
            threading.Event().wait()
        os._exit(0)

    def received(self, message: JsonObject) -> None:
        method, params, number = message["method"], message.get("params") or {}, message.get("id")
        behaviour = self.behaviours.get(method)
        if behaviour == "hang":
            return
        if isinstance(behaviour, dict):
            if "crash" in behaviour:
                os._exit(behaviour["crash"])
            if "result" in behaviour or "error" in behaviour:
                self.send({"jsonrpc": "2.0", "id": number, **behaviour})
                return
        if method == "session/cancel":
            self.cancel(params.get("sessionId", ""))
        elif number is not None:
            steps = behaviour["steps"] if isinstance(behaviour, dict) else []
            if method == "session/prompt" or steps or method == "session/load":
                threading.Thread(target=self.answer, args=(number, method, params, steps), daemon=True).start()
            else:
                self.answer(number, method, params, [])

    def answer(self, number: object, method: str, params: JsonObject, steps: Sequence[JsonObject]) -> None:
        session = params.get("sessionId", "")
        if cwd := params.get("cwd"):
            self.folders[session] = Path(cwd)
        turn = Turn(self, session, number)
        self.doing.steps(turn, steps)
        known: dict[str, Callable[[JsonObject, Turn], JsonObject | None]] = {
            "initialize": self.initialize,
            "authenticate": self.authenticate,
            "session/new": self.new_session,
            "session/load": self.load_session,
            "session/resume": self.known_session,
            "session/fork": self.new_session,
            "session/list": self.list_sessions,
            "session/close": lambda params, turn: {},
            "session/set_mode": self.set_mode,
            "session/set_model": self.set_model,
            "session/set_config_option": self.set_option,
            "session/prompt": self.prompt,
        }
        if method not in known:
            turn.answer({"error": {"code": -32601, "message": "Method not found"}})
            return
        try:
            result = known[method](params, turn)
        except Refused as refused:
            turn.answer({"error": {"code": -32602, "message": str(refused)}})
        else:
            if result is not None:
                turn.answer({"result": result})

    # -- what it is asked ----------------------------------------------------------------------------------------

    def initialize(self, params: JsonObject, turn: Turn) -> JsonObject:
        self.capabilities = params.get("clientCapabilities") or {}
        script = self.script
        able: JsonObject = {
            "loadSession": bool(script.get("load")),
            "promptCapabilities": {"image": bool(script.get("images")), "embeddedContext": bool(script.get("files"))},
            "sessionCapabilities": {name: {} for name in SESSION_ABILITIES if script.get(name)},
        }
        info = {"name": script.get("name", "scripted-agent"), "title": script.get("title", "Scripted agent")}
        return {
            "protocolVersion": script.get("protocol", 1),
            "agentCapabilities": able | script.get("capabilities", {}),
            "agentInfo": info | {"version": script.get("version", "1.0")},
            "authMethods": script.get("auth_methods", []),
        }

    def authenticate(self, params: JsonObject, turn: Turn) -> JsonObject:
        self.signed_in = True
        return {}

    def locked(self, turn: Turn, *, prompt: bool) -> bool:
        required = self.script.get("auth_required")
        if not required or self.signed_in or (required == "prompt") is not prompt:
            return False
        error = {"code": -32000, "message": "Authentication required"}
        turn.answer({"error": error | (required if isinstance(required, dict) else {})})
        return True

    def new_session(self, params: JsonObject, turn: Turn) -> JsonObject | None:
        if self.locked(turn, prompt=False):
            return None
        session = "session-" + os.urandom(4).hex()
        self.folders[session] = Path(params.get("cwd", "."))
        return {"sessionId": session, **self.choices()}

    def known_session(self, params: JsonObject, turn: Turn) -> JsonObject | None:
        if self.locked(turn, prompt=False):
            return None
        if "knows" in self.script and params.get("sessionId") not in self.script["knows"]:
            turn.answer({"error": {"code": -32002, "message": "Resource not found"}})
            return None
        return self.choices()

    def load_session(self, params: JsonObject, turn: Turn) -> JsonObject | None:
        found = self.known_session(params, turn)
        if found is not None:
            self.doing.steps(turn, self.script.get("replay", []))
        return found

    def choices(self) -> JsonObject:
        told = {"modes": self.modes, "models": self.models, "configOptions": self.options}
        return {name: value for name, value in told.items() if value is not None}

    def list_sessions(self, params: JsonObject, turn: Turn) -> JsonObject:
        sessions, begin = self.script.get("sessions", []), int(params.get("cursor") or 0)
        size = self.script.get("page", len(sessions) or 1)
        more = {"nextCursor": str(begin + size)} if begin + size < len(sessions) else {}
        return {"sessions": sessions[begin : begin + size], **more}

    def set_mode(self, params: JsonObject, turn: Turn) -> JsonObject:
        if params["modeId"] not in [mode["id"] for mode in (self.modes or {}).get("availableModes", [])]:
            raise Refused("mode", params["modeId"])
        self.modes = {**self.modes, "currentModeId": params["modeId"]}
        return {}

    def set_model(self, params: JsonObject, turn: Turn) -> JsonObject:
        if params["modelId"] not in [model["modelId"] for model in (self.models or {}).get("availableModels", [])]:
            raise Refused("model", params["modelId"])
        self.models = {**self.models, "currentModelId": params["modelId"]}
        return {}

    def set_option(self, params: JsonObject, turn: Turn) -> JsonObject:
        if params["configId"] not in [option["id"] for option in self.options or []]:
            raise Refused("option", params["configId"])
        self.options = [
            {**option, "currentValue": params["value"]} if option["id"] == params["configId"] else option
            for option in self.options
        ]
        return {"configOptions": self.options}

    def cancel(self, session: str) -> None:
        turn = self.turns.get(session)
        how = self.script.get("cancel", "obey")
        if turn is None or how == "ignore":
            return
        if isinstance(how, dict):
            turn.answer(how)
        turn.cancelled.set()

    def prompt(self, params: JsonObject, turn: Turn) -> JsonObject | None:
        if self.locked(turn, prompt=True):
            return None
        self.turns[turn.session] = turn
        turns = self.script.get("turns", [])
        number = self.next_prompt()
        self.doing.steps(turn, turns[number] if number < len(turns) else [{"say": "nothing left to do"}])
        return {"stopReason": "cancelled" if turn.cancelled.is_set() else "end_turn"}

    def next_prompt(self) -> int:
        if counter := self.script.get("counter"):
            path = Path(counter)
            self.prompts = int(path.read_text("ascii")) if path.exists() else 0
            path.write_text(str(self.prompts + 1), "ascii")
        self.prompts += 1
        return self.prompts - 1


def main() -> None:
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SCRIPTED_AGENT", "{}")
    text = given if given.lstrip().startswith("{") else Path(given).read_text("utf-8")
    Agent(json.loads(text)).run()
