"""What our program says of agents that are here."""

import pytest

from tests.helpers.lab import SEED, Lab

pytestmark = pytest.mark.timeout(600)


def test_an_agent_is_found_on_the_path_and_says_its_version_when_it_is_started(place: Lab) -> None:
    found = {agent["id"]: agent for agent in place.call("agents", "--json").json["agents"]}[place.kind.id]
    assert found["state"] == "found"
    checked = {agent["id"]: agent for agent in place.call("agents", "--check", "--json").json["agents"]}[place.kind.id]
    assert (checked["state"], checked["problem"] or "") == ("ready", "")
    assert checked["version"][:1].isdecimal()
    again = {agent["id"]: agent for agent in place.call("agents", "--json").json["agents"]}[place.kind.id]
    assert (again["state"], again["version"]) == ("ready", checked["version"])
    assert place.files() == dict(SEED)
    assert place.left_over() == []
