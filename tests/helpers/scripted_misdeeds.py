"""The steps of a script for `scripted_agent` that no agent should do: floods, bytes that are no messages, wrong messages."""

import os
import time

from tests.helpers.scripted_steps import JsonObject, Steps, Turn, new_call, text_block


class Misdeeds(Steps):
    """All of the steps, these too."""

    def do_chunks(self, turn: Turn, step: JsonObject, session: str) -> None:
        pause_s = 1 / step["per_second"] if step.get("per_second") else 0
        for number in range(step["chunks"]):
            self.agent.update(session, "agent_message_chunk", content=text_block(step.get("text", f"{number} ")))
            if pause_s:
                time.sleep(pause_s)
            if turn.cancelled.is_set():
                return

    def do_frame_mb(self, turn: Turn, step: JsonObject, session: str) -> None:
        text = "x" * int(step["frame_mb"] * (1 << 20))
        if step.get("as", "say") == "say":
            self.agent.update(session, "agent_message_chunk", content=text_block(text))
        else:
            content = [{"type": "content", "content": text_block(text)}]
            self.agent.update(session, "tool_call", toolCallId=step.get("call", new_call()), title="large", content=content)

    def do_endless_mb(self, turn: Turn, step: JsonObject, session: str) -> None:
        for _ in range(step["endless_mb"]):
            self.agent.put(b"x" * (1 << 20))

    def do_junk(self, turn: Turn, step: JsonObject, session: str) -> None:
        for _ in range(step.get("times", 1)):
            self.agent.put(step["junk"].encode() + b"\n")

    def do_bytes(self, turn: Turn, step: JsonObject, session: str) -> None:
        self.agent.put(bytes.fromhex(step["bytes"]))

    def _raw_update(self, session: str, body: str) -> None:
        head = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"' + session + '","update":'
        self.agent.put((head + body + "}}\n").encode())

    def do_deep(self, turn: Turn, step: JsonObject, session: str) -> None:
        deep = "[" * step["deep"] + "]" * step["deep"]
        if step.get("as", "input") == "input":
            deep = '{"sessionUpdate":"tool_call","toolCallId":"deep","title":"deep","rawInput":' + deep + "}"
        self._raw_update(session, deep)

    def do_digits(self, turn: Turn, step: JsonObject, session: str) -> None:
        self._raw_update(session, '{"sessionUpdate":"usage_update","used":' + "9" * step["digits"] + ',"size":1}')

    def do_nan(self, turn: Turn, step: JsonObject, session: str) -> None:
        self._raw_update(session, '{"sessionUpdate":"usage_update","used":NaN,"size":Infinity}')

    def do_invalid_utf8(self, turn: Turn, step: JsonObject, session: str) -> None:
        start = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":' % session.encode()
        told = b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\xff\xfeb"}}'
        self.agent.put(start + told + b"}}\n")

    def do_stderr(self, turn: Turn, step: JsonObject, session: str) -> None:
        os.write(2, step["stderr"].encode() + b"\n")

    def do_stderr_kb(self, turn: Turn, step: JsonObject, session: str) -> None:
        for _ in range(step["stderr_kb"]):
            view = memoryview(b"x" * 1023 + b"\n")
            while view:
                view = view[os.write(2, view) :]
