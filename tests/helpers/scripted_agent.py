"""An agent without a model, for tests: it speaks ACP 1 on its standard streams and does what a script says, good or bad.

Standard library only, not the SDK: what it sends is made by hand, so that it can also be wrong. Started as
``python scripted_agent.py SCRIPT.json``, or with the script or its path in the variable ``SCRIPTED_AGENT``. Tests call
`command`, or `start_line` to have everything but the script.

    {"turns": [[STEP, ...], ...]}                turn N answers the N-th prompt; later ones are answered "nothing left to do"

Other keys of the script, all optional:

    "name", "title", "version"                   what it says of itself; "protocol": the version it answers
    "images", "files"                            what a prompt may hold (default: neither)
    "load", "resume", "list", "fork", "close"    what it can do with sessions (default: none of it)
    "capabilities"                               put over the capabilities that follow from these
    "auth_methods": [...]                        as they are sent
    "auth_required": true | "prompt" | {"message", "data"}
                                                 sessions, or prompts, fail with -32000 until `authenticate` was called
    "modes", "models", "config_options"          as they are sent with a session; setting them works, and is answered or told
    "sessions": [...], "page": N                 what it lists, N at a time
    "knows": [id, ...]                           the sessions it can load (default: any)
    "replay": [STEP, ...]                        what it tells while a session is loaded
    "start": [STEP, ...]                         what it does before it reads anything
    "on": {METHOD: "hang" | {"result": any} | {"error": {...}} | {"crash": N} | {"steps": [STEP, ...]}}
                                                 what it does instead of answering (steps: before it answers)
    "cancel": "obey" | "ignore" | {"error": {}}  what a cancel does: the turn ends ``cancelled``, nothing, the prompt fails
    "eof": "leave" | "stay", "sigterm": "obey" | "ignore"
    "counter": PATH                              keeps the number of prompts across processes
    "log": PATH                                  every message it received, a JSON line each, written before it acts on it

Steps. Paths are relative to the session's folder, or absolute. Any step may have ``"session"``: the id it is sent under.

    {"say": text} {"think": text} {"user": text}                 told word by word; "whole": true in one piece; "message": id
    {"plan": [[content, status], ...]} {"commands": [[name, description, hint], ...]} {"usage": {...}} {"title": text}
    {"mode": id} {"config": [...]}                               the updates of these names
    {"update": {...}}                                            any update; {"raw": {...}}: any message
    {"write": path, "text": str, "via": "client" | "disk", "ask": bool, "announce": "before" | "after" | "never" | "update",
     "diff": "full" | "fragment" | "none", "asked_text": str (what is shown, if other than what is written), "location": bool,
     "title", "kind", "call" (id), "options", "input", "twice": bool, "insist": bool (on disk if the client refuses)}
    {"delete": path} {"move": [a, b]}                            on disk; "ask", "title", "call", "options" as above
    {"shell": command, "via": "terminal" | "disk", "ask": bool, "cwd": null | path, "env": {}, "limit": bytes,
     "kill_when": path (kill it once that exists), "release": bool, "wait": bool, "split": [program, arg, ...],
     "quiet": bool (its output is not said)}
    {"read": path, "via": "client" | "disk", "line": N, "limit": N, "ask": bool}   says what it read, or ``refused: CODE TEXT``
    {"ask": title, "kind", "path", "old", "new", "options", "input", "call"}       only asks, and says ``answered: OPTION``
    {"request": method, "params": {}, "wait": bool, "times": N}                    any request; waited for, it says the answer
    {"chunks": N, "text": str, "per_second": R}                  N pieces of an answer
    {"frame_mb": N, "as": "say" | "tool"}                        one large message
    {"endless_mb": N}                                            a line that does not end
    {"junk": text, "times": N} {"bytes": hex} {"deep": N, "as": "input" | "update"} {"digits": N} {"nan": true}
    {"invalid_utf8": true}
    {"stderr": text} {"stderr_kb": N}
    {"sleep": s} {"hang": true}                                  a cancel ends a sleep; nothing ends a hang
    {"wait_for": path} {"touch": path}                           until a file is there, or is not ("gone": true); make one
    {"child": s, "setsid": bool, "hold": bool, "pids": path}     leave a process that lives so long; "hold": with our streams
    {"report": "fds" | "env" | "pid" | "folder" | "group", "to": path}             JSON into a file, or said
    {"crash": N} {"signal": N}                                   end at once
    {"end": reason | {"result": any} | {"error": {...}}}         answer the prompt now; the steps after it are done nevertheless
    {"parallel": [[STEP, ...], ...]} {"repeat": N, "steps": [STEP, ...]}
"""

import json
import os
import sys
from pathlib import Path

JsonObject = dict[str, object]


def start_line() -> tuple[str, ...]:
    """The program and its arguments, without a script."""
    return (sys.executable, "-E", "-S", os.path.abspath(__file__))


def command(script: JsonObject, folder: Path) -> tuple[str, ...]:
    """Write a script into a folder; the command that runs it."""
    path = folder / f"script-{os.urandom(4).hex()}.json"
    path.write_text(json.dumps(script), "utf-8")
    return (*start_line(), str(path))


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    from tests.helpers.scripted_protocol import main

    main()
