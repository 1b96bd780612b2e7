"""What is left out of an export: the output of commands, and what looks like a secret; everything else stays to the letter."""

import json
import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.chat.world import said, user
from vibekit_desktop.core.chat.withholding import LEFT_OUT, MASKED, masked, withhold, withhold_messages
from vibekit_desktop.core.types.chats import Message, ToolCall, Withheld

SECRETS = [
    "sk-" + "ant-" + "a1B2" * 6,
    "sk_live_" + "a1B2c3D4" * 3,
    "ghp_" + "Ab12" * 9,
    "github_pat_" + "Ab1_" * 8,
    "glpat-" + "Ab12_" * 4,
    "xoxb-" + "123456789012-abc",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "AIza" + "Sy0123456789abcdefghijklmnopqrstuvw",
    "hf_" + "abcdefghijklmnopqrstuvwx",
    "eyJ" + "hbGciOiJI.eyJ" + "zdWIiOiIx.SflKxwRJSMeK",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS, ids=range(len(SECRETS)))
def test_what_has_the_form_of_a_key_is_masked_wherever_it_stands(secret: str) -> None:
    assert masked(f"before {secret} after") == f"before {MASKED} after"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("DB_PASSWORD=hunter2hunter2\nnext", f"DB_PASSWORD={MASKED}\nnext"),
        ('{"api_key": "a1b2c3d4e5"}', f'{{"api_key": "{MASKED}"}}'),
        ("curl -H 'Authorization: Bearer abcdefgh12345'", f"curl -H 'Authorization: Bearer {MASKED}'"),
        ("postgres://ada:pa55word@localhost/db", f"postgres://ada:{MASKED}@localhost/db"),
        ("my-secret: s3cr3t-value-9", f"my-secret: {MASKED}"),
    ],
)
def test_a_value_with_a_telling_name_is_masked_and_the_name_stays(text: str, wanted: str) -> None:
    assert masked(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "token = parser.next_token()",
        "password: str",
        "the secret of the 7 dwarfs",
        "tokens: 12,345",
        "https://example.org/a:b@c",
        "sha256 4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
        "key=value",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked(text) == text


CALL = ToolCall(id="t1", kind="execute", output="exit 0\n", input=msgspec.Raw(b'{"command":"TOKEN=abc123def456 make"}'))
READ = ToolCall(id="t2", kind="read", output="text")


def chat() -> tuple[Message, ...]:
    return (user("u1", "my password=abcd1234efgh", 1), msgspec.structs.replace(said("done"), tool_calls=(CALL, READ)))


def test_the_output_of_commands_goes_and_that_of_others_stays() -> None:
    (_, answer) = withhold_messages(chat(), Withheld(output=True))
    assert [call.output for call in answer.tool_calls] == [LEFT_OUT, "text"]
    assert chat()[0].content in str(withhold_messages(chat(), Withheld(output=True))[0])


def test_secrets_go_from_prompts_and_from_what_tools_were_told() -> None:
    found = withhold_messages(chat(), Withheld(secrets=True))
    assert found[0].content == f"my password={MASKED}"
    assert json.loads(bytes(found[1].tool_calls[0].input)) == {"command": f"TOKEN={MASKED} make"}
    assert found[1].tool_calls[0].output == "exit 0\n"


def test_with_nothing_to_leave_out_everything_is_as_it_was() -> None:
    assert withhold_messages(chat(), Withheld()) == chat()
    assert withhold({"a": [1, None, "TOKEN=abc123def456"]}, Withheld()) == {"a": [1, None, "TOKEN=abc123def456"]}


@given(st.text(max_size=300))
def test_no_text_is_too_much_and_masking_twice_is_masking_once(text: str) -> None:
    assert masked(masked(text)) == masked(text)


@pytest.mark.parametrize("piece", ["a", "password", "-----BEGIN PRIVATE KEY-----", "a://b:"])
def test_what_it_takes_grows_no_faster_than_the_text(piece: str) -> None:
    short, long = piece * (50_000 // len(piece)), piece * (400_000 // len(piece))
    assert masked(long) == long
    assert _took(long) < 30 * _took(short), "8 where it grows as the text, 64 where it grows as its square"


def _took(text: str) -> float:
    """The shortest of three times."""
    found = []
    for _ in range(3):
        begin = time.process_time()
        masked(text)
        found.append(time.process_time() - begin)
    return min(found)
