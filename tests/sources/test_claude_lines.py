"""Files in every state that was seen: glued, cut, filled with NUL, arrays instead of lines; and hostile ones."""

import json

from vibekit_desktop.core.sources.claude_lines import parse

ONE = '{"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":"one"}}'
TWO = '{"type":"assistant","uuid":"a1","sessionId":"s","message":{"role":"assistant","content":"two"}}'


def _types(text: str | bytes) -> list[tuple[int, str]]:
    return [(record.line, record.head.type) for record in parse(text if isinstance(text, bytes) else text.encode()).records]


def _skipped(text: str | bytes) -> list[tuple[int, str]]:
    return [(item.line, item.reason) for item in parse(text if isinstance(text, bytes) else text.encode()).skipped]


def test_two_records_glued_on_one_line_are_both_read() -> None:
    assert _types(f"{ONE}{TWO}\n{ONE}\n") == [(1, "user"), (1, "assistant"), (2, "user")]
    assert _skipped(f"{ONE}{TWO}\n") == []


def test_runs_of_nul_and_empty_lines_are_passed_over() -> None:
    assert _types(f"{ONE}\n\0\0\0\0\n\n\0\0{TWO}\0\n") == [(1, "user"), (4, "assistant")]
    assert _skipped(f"{ONE}\n\0\0\0\0\n\n\0\0{TWO}\0\n") == []


def test_a_cut_last_line_is_reported_and_the_rest_is_read() -> None:
    assert _types(f"{ONE}\n{TWO[:40]}") == [(1, "user")]
    assert _skipped(f"{ONE}\n{TWO[:40]}") == [(2, "cut off")]


def test_a_record_cut_short_with_a_whole_one_behind_it_gives_the_whole_one() -> None:
    text = f'{ONE}\n{{"type":"user","message":{{"content":"abc{TWO}\n{ONE}\n'
    assert _types(text) == [(1, "user"), (2, "assistant"), (3, "user")]
    assert _skipped(text) == [(2, "not JSON")]


def test_an_array_instead_of_lines_is_read_pretty_or_not_and_also_cut_short() -> None:
    records = [json.loads(ONE), json.loads(TWO)]
    assert [kind for _, kind in _types(json.dumps(records))] == ["user", "assistant"]
    assert [kind for _, kind in _types(json.dumps(records, indent=2))] == ["user", "assistant"]
    assert [kind for _, kind in _types("\ufeff" + json.dumps(records)[:-30])] == ["user"]


def test_lines_end_only_at_the_line_feed_byte() -> None:
    record = json.loads(ONE)
    record["message"]["content"] = "a\u2028b\u0085c\u000bd"
    assert _types(json.dumps(record, ensure_ascii=False) + "\n") == [(1, "user")]


def test_a_wrong_type_in_one_key_loses_only_that_key() -> None:
    record = {"type": "user", "uuid": 7, "sessionId": ["x"], "timestamp": {}, "cwd": "/w", "isMeta": "yes", "message": {}}
    head = parse(json.dumps(record).encode()).records[0].head
    assert (head.type, head.cwd, head.uuid, head.is_meta) == ("user", "/w", "", False)


def test_half_of_a_surrogate_pair_damages_only_its_record() -> None:
    text = ONE.replace("one", "\\ud83d") + "\n" + TWO + "\n"
    records = parse(text.encode()).records
    assert [record.damaged for record in records] == [True, False]


def test_what_no_machine_holds_is_skipped_and_never_fatal() -> None:
    deep = '{"type":"user","message":' + "[" * 100_000 + "]" * 100_000 + "}"
    long = '{"type":"user","uuid":"u","sessionId":"s","durationMs":' + "9" * 10_000 + "}"
    strange = '{"type":"user","uuid":"u","sessionId":"s","durationMs":NaN,"durationMs":1}'
    text = f"{deep}\n{long}\n{strange}\nnonsense\n\x1b[31m\n{ONE}\n"
    found = _types(text)
    assert (6, "user") in found
    assert {line for line, _ in _skipped(text)} >= {1, 4, 5}


def test_a_line_that_is_not_utf8_is_read_and_marked() -> None:
    records = parse(ONE.encode().replace(b"one", b"caf\xe9") + b"\n").records
    assert len(records) == 1
