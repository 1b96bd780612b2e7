"""The steps of a script for `scripted_agent` that an agent might well do; its docstring describes them."""

import json
import os
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.helpers.scripted_protocol import Agent

JsonObject = dict[str, Any]
OPTIONS = [
    {"optionId": "y", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "n", "name": "Reject", "kind": "reject_once"},
]


class Refused(Exception):
    """The client answered a request with an error."""

    def __init__(self, code: object, text: object) -> None:
        super().__init__(f"{code} {text}")


class Turn:
    """A prompt that is being answered: it is answered once."""

    def __init__(self, agent: "Agent", session: str, request: object) -> None:
        self.agent, self.session, self.request = agent, session, request
        self.cancelled = threading.Event()
        self.answered = False

    def answer(self, body: JsonObject) -> None:
        if not self.answered:
            self.answered = True
            if self.request is not None:
                self.agent.send({"jsonrpc": "2.0", "id": self.request, **body})


class Steps:
    """Does what a script says; a step ``{"name": ...}`` is the method ``do_name``."""

    def __init__(self, agent: "Agent") -> None:
        self.agent = agent

    def steps(self, turn: Turn, steps: Sequence[JsonObject]) -> None:
        for step in steps:
            if turn.cancelled.is_set() and not turn.answered:
                return
            try:
                getattr(self, f"do_{next(iter(step))}")(turn, step, step.get("session", turn.session))
            except Refused as refused:
                self.agent.update(turn.session, "agent_message_chunk", content=text_block(f"refused: {refused}"))
            except Exception:
                traceback.print_exc()
                os._exit(97)  # the script is wrong: nobody shall wait for it

    def path(self, turn: Turn, name: str) -> Path:
        return self.agent.folders.get(turn.session, Path.cwd()) / name

    def tell(self, session: str, kind: str, step: JsonObject, text: str) -> None:
        words = text.split(" ")
        pieces = [text] if step.get("whole") else [*(word + " " for word in words[:-1]), words[-1]]
        message = {"messageId": step["message"]} if "message" in step else {}
        for piece in pieces:
            self.agent.update(session, kind, content=text_block(piece), **message)

    def do_say(self, turn: Turn, step: JsonObject, session: str) -> None:
        self.tell(session, "agent_message_chunk", step, step["say"])

    def do_think(self, turn: Turn, step: JsonObject, session: str) -> None:
        self.tell(session, "agent_thought_chunk", step, step["think"])

    def do_user(self, turn: Turn, step: JsonObject, session: str) -> None:
        self.tell(session, "user_message_chunk", step, step["user"])

    def do_plan(self, turn: Turn, step: JsonObject, session: str) -> None:
        entries = [{"content": content, "status": status, "priority": "medium"} for content, status in step["plan"]]
        self.agent.update(session, "plan", entries=entries)

    def do_commands(self, turn: Turn, step: JsonObject, session: str) -> None:
        told = []
        for name, description, *hint in step["commands"]:
            told.append({"name": name, "description": description, **({"input": {"hint": hint[0]}} if hint else {})})
        self.agent.update(session, "available_commands_update", availableCommands=told)

    def do_usage(self, turn: Turn, step: JsonObject, session: str) -> None:
        self.agent.update(session, "usage_update", **step["usage"])

    def do_title(self, turn: Turn, step: JsonObject, session: str) -> None:
        self.agent.update(session, "session_info_update", title=step["title"])

    def do_mode(self, turn: Turn, step: JsonObject, session: str) -> None:
        self.agent.update(session, "current_mode_update", currentModeId=step["mode"])

    def do_config(self, turn: Turn, step: JsonObject, session: str) -> None:
        self.agent.update(session, "config_option_update", configOptions=step["config"])

    def do_update(self, turn: Turn, step: JsonObject, session: str) -> None:
        self.agent.send(
            {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": step["update"]}}
        )

    def do_raw(self, turn: Turn, step: JsonObject, session: str) -> None:
        self.agent.send(step["raw"])

    def permitted(self, session: str, call: JsonObject, step: JsonObject) -> str:
        """The id of the option that was chosen, or ``cancelled``."""
        params = {"sessionId": session, "toolCall": call, "options": step.get("options", OPTIONS)}
        outcome = self.agent.ask_client("session/request_permission", params)["outcome"]
        return str(outcome.get("optionId", outcome["outcome"]))

    def allowed(self, session: str, call: JsonObject, step: JsonObject) -> bool:
        kinds = {option.get("optionId"): option.get("kind", "") for option in step.get("options", OPTIONS)}
        return str(kinds.get(self.permitted(session, call, step), "")).startswith("allow")

    def do_ask(self, turn: Turn, step: JsonObject, session: str) -> None:
        call: JsonObject = {"toolCallId": step.get("call", new_call())}
        call |= {key: value for key, value in (("title", step["ask"]), ("kind", step.get("kind"))) if value}
        if "input" in step:
            call["rawInput"] = step["input"]
        if "path" in step:
            path = str(self.path(turn, step["path"]))
            call["locations"] = [{"path": path}]
            if "new" in step:
                call["content"] = [{"type": "diff", "path": path, "oldText": step.get("old"), "newText": step["new"]}]
        self.tell(session, "agent_message_chunk", {"whole": True}, f"answered: {self.permitted(session, call, step)}")

    def do_write(self, turn: Turn, step: JsonObject, session: str) -> None:
        path, call, announce = self.path(turn, step["write"]), step.get("call", new_call()), step.get("announce", "before")
        old = path.read_text("utf-8") if path.is_file() else None
        shown = step.get("asked_text", step["text"])
        diff = {"full": (old, shown), "fragment": ((old or "")[:8], shown[:8]), "none": None}[step.get("diff", "full")]
        content = [{"type": "diff", "path": str(path), "oldText": diff[0], "newText": diff[1]}] if diff else []
        told: JsonObject = {"title": step.get("title", f"Write {step['write']}"), "kind": step.get("kind", "edit")}
        if step.get("location", True):
            told["locations"] = [{"path": str(path)}]
        if "input" in step:
            told["rawInput"] = step["input"]
        if announce == "before":
            for _ in range(2 if step.get("twice") else 1):
                self.agent.update(session, "tool_call", toolCallId=call, status="pending", content=content, **told)
        status, reason = "completed", ""
        if step.get("ask") and not self.allowed(session, {"toolCallId": call, **told, "content": content}, step):
            status = "failed"
        elif step.get("via", "client") == "client" and (self.agent.capabilities.get("fs") or {}).get("writeTextFile"):
            try:
                self.agent.ask_client("fs/write_text_file", {"sessionId": session, "path": str(path), "content": step["text"]})
            except Refused as refused:
                status, reason = "failed", f"refused: {refused}"
                if step.get("insist"):
                    write_file(path, step["text"])
        else:
            write_file(path, step["text"])
        if announce == "after":
            self.agent.update(session, "tool_call", toolCallId=call, status=status, content=content, **told)
        elif announce != "never":
            more = [*content, {"type": "content", "content": text_block(reason)}] if reason else content
            self.agent.update(session, "tool_call_update", toolCallId=call, status=status, content=more)

    def do_delete(self, turn: Turn, step: JsonObject, session: str) -> None:
        self._vanish(turn, step, session, "delete", self.path(turn, step["delete"]), None)

    def do_move(self, turn: Turn, step: JsonObject, session: str) -> None:
        old, new = step["move"]
        self._vanish(turn, step, session, "move", self.path(turn, old), self.path(turn, new))

    def _vanish(self, turn: Turn, step: JsonObject, session: str, kind: str, path: Path, new: Path | None) -> None:
        call = step.get("call", new_call())
        told: JsonObject = {"title": step.get("title", f"{kind} {path.name}"), "kind": kind}
        told["locations"] = [{"path": str(place)} for place in (path, new) if place]
        self.agent.update(session, "tool_call", toolCallId=call, status="in_progress", **told)
        if step.get("ask") and not self.allowed(session, {"toolCallId": call, **told}, step):
            self.agent.update(session, "tool_call_update", toolCallId=call, status="failed")
            return
        if new is not None:
            new.parent.mkdir(parents=True, exist_ok=True)
            path.rename(new)
        else:
            path.unlink()
        self.agent.update(session, "tool_call_update", toolCallId=call, status="completed")

    def do_shell(self, turn: Turn, step: JsonObject, session: str) -> None:
        call = step.get("call", new_call())
        told = {"title": step.get("title", step["shell"]), "kind": "execute"}
        self.agent.update(session, "tool_call", toolCallId=call, status="pending", rawInput={"command": step["shell"]}, **told)
        if step.get("ask") and not self.allowed(session, {"toolCallId": call, **told}, step):
            self.agent.update(session, "tool_call_update", toolCallId=call, status="failed")
            return
        self.agent.update(session, "tool_call_update", toolCallId=call, status="in_progress")
        if step.get("via", "disk") == "terminal" and self.agent.capabilities.get("terminal"):
            try:
                code = self._terminal(turn, step, session, call)
            except Refused:
                self.agent.update(session, "tool_call_update", toolCallId=call, status="failed")
                raise
        else:
            import subprocess

            folder = self.path(turn, step.get("cwd") or ".")
            code = subprocess.run(step["shell"], shell=True, cwd=folder, stdout=subprocess.DEVNULL, check=False).returncode
        self.steps(turn, step.get("then", []))
        told = {"rawOutput": {"exit_code": code}} if step.get("tells_exit") else {}
        self.agent.update(session, "tool_call_update", toolCallId=call, status="failed" if code else "completed", **told)

    def _terminal(self, turn: Turn, step: JsonObject, session: str, call: str) -> int | None:
        program, *words = step.get("split") or ["/bin/sh", "-c", step["shell"]]
        folder = None if "cwd" in step and step["cwd"] is None else str(self.path(turn, step.get("cwd", ".")))
        env = [{"name": name, "value": value} for name, value in step.get("env", {}).items()]
        params = {"sessionId": session, "command": program, "args": words, "cwd": folder, "env": env}
        if "limit" in step:
            params["outputByteLimit"] = step["limit"]
        made = self.agent.ask_client("terminal/create", params)["terminalId"]
        named = {"sessionId": session, "terminalId": made}
        content = [{"type": "terminal", "terminalId": made}]
        self.agent.update(session, "tool_call_update", toolCallId=call, content=content)
        code = None
        if "kill_when" in step:
            wait_for(self.path(turn, step["kill_when"]))
            self.agent.ask_client("terminal/kill", named)
        if step.get("wait", True):
            code = self.agent.ask_client("terminal/wait_for_exit", named).get("exitCode")
            output = self.agent.ask_client("terminal/output", named)
            if not step.get("quiet"):
                self.tell(session, "agent_message_chunk", {"whole": True}, f"output: {output['output']}")
        if step.get("release", True):
            self.agent.ask_client("terminal/release", named)
        return code

    def do_read(self, turn: Turn, step: JsonObject, session: str) -> None:
        path, call = self.path(turn, step["read"]), step.get("call", new_call())
        told = {"title": f"Read {step['read']}", "kind": "read", "locations": [{"path": str(path)}]}
        if step.get("ask") and not self.allowed(session, {"toolCallId": call, **told}, step):
            return
        if step.get("via", "client") == "client":
            params: JsonObject = {"sessionId": session, "path": str(path)}
            params |= {name: step[name] for name in ("line", "limit") if name in step}
            text = self.agent.ask_client("fs/read_text_file", params)["content"]
        else:
            text = path.read_text("utf-8")
        self.tell(session, "agent_message_chunk", {"whole": True}, text)

    def do_request(self, turn: Turn, step: JsonObject, session: str) -> None:
        params = step.get("params", {})
        if isinstance(params, dict):
            params = {"sessionId": session, **params}
        for _ in range(step.get("times", 1)):
            answer = self.agent.ask_client(step["request"], params, wait=step.get("wait", True))
            if step.get("wait", True):
                self.tell(session, "agent_message_chunk", {"whole": True}, json.dumps(answer))

    def do_sleep(self, turn: Turn, step: JsonObject, session: str) -> None:
        turn.cancelled.wait(step["sleep"])

    def do_hang(self, turn: Turn, step: JsonObject, session: str) -> None:
        threading.Event().wait()

    def do_wait_for(self, turn: Turn, step: JsonObject, session: str) -> None:
        wait_for(self.path(turn, step["wait_for"]), gone=step.get("gone", False), stop=turn.cancelled)

    def do_touch(self, turn: Turn, step: JsonObject, session: str) -> None:
        self.path(turn, step["touch"]).touch()

    def do_child(self, turn: Turn, step: JsonObject, session: str) -> None:
        import subprocess

        child = subprocess.Popen(
            ["sleep", str(step["child"])],
            stdin=subprocess.DEVNULL,
            stdout=None if step.get("hold") else subprocess.DEVNULL,
            stderr=None if step.get("hold") else subprocess.DEVNULL,
            start_new_session=bool(step.get("setsid")),
        )
        if "pids" in step:
            with open(self.path(turn, step["pids"]), "a", encoding="ascii") as file:
                file.write(f"{child.pid}\n")

    def do_report(self, turn: Turn, step: JsonObject, session: str) -> None:
        what: object
        if step["report"] == "fds":
            # The folder that is being listed is open while it is.
            what = sorted(int(name) for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}"))
        elif step["report"] == "env":
            what = dict(os.environ)
        else:
            what = {"pid": os.getpid(), "folder": os.getcwd(), "group": os.getpgrp()}[step["report"]]
        if "to" in step:
            path = self.path(turn, step["to"])
            path.with_suffix(".part").write_text(json.dumps(what), "utf-8")
            path.with_suffix(".part").rename(path)
        else:
            self.tell(session, "agent_message_chunk", {"whole": True}, json.dumps(what))

    def do_crash(self, turn: Turn, step: JsonObject, session: str) -> None:
        os._exit(step["crash"])

    def do_signal(self, turn: Turn, step: JsonObject, session: str) -> None:
        os.kill(os.getpid(), step["signal"])

    def do_end(self, turn: Turn, step: JsonObject, session: str) -> None:
        end = step["end"]
        turn.answer(end if isinstance(end, dict) else {"result": {"stopReason": end}})

    def do_parallel(self, turn: Turn, step: JsonObject, session: str) -> None:
        threads = [threading.Thread(target=self.steps, args=(turn, steps), daemon=True) for steps in step["parallel"]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def do_repeat(self, turn: Turn, step: JsonObject, session: str) -> None:
        for _ in range(step["repeat"]):
            self.steps(turn, step["steps"])


def text_block(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def new_call() -> str:
    return "call_" + os.urandom(4).hex()


def write_file(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def wait_for(path: Path, *, gone: bool = False, stop: threading.Event | None = None) -> None:
    """It runs in a process of its own, where nobody can tell it of files: it looks, with a limit."""
    for _ in range(3000):
        if path.exists() is not gone or (stop is not None and stop.is_set()):
            return
        time.sleep(0.01)
    raise SystemExit(f"nothing happened to {path}")
