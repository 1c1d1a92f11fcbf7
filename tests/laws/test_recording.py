"""What counts of a request: the same question is the same key wherever and whenever it is asked, another one never."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_kernel.core.recording.cassette import Request
from hermes_kernel.core.recording.normal import Places, arguments, placed, plainly, request

MACHINES = [
    {
        "home": "/export/mia",
        "here": "/export/mia/work/sales",
        "tmp": "/tmp",
        "made": "/tmp/tmpab12cd_x/plot.png",
        "named": "/tmp/hermes-report-9_zxcvbn/out",
        "test": "/tmp/pytest-of-mia/pytest-3/test_x0",
        "cell": "/tmp/ipykernel_4711/123456789.py",
        "at": "0x7f2a1c0de0f0",
        "ids": ["call_1", "call_2", "chatcmpl-tool-9"],
    },
    {
        "home": "/Volumes/Noah",
        "here": "/Volumes/data/sales",
        "tmp": "/var/folders/x1/T",
        "made": "/var/folders/x1/T/tmpqwertzui/plot.png",
        "named": "/var/folders/x1/T/hermes-report-abcdefgh/out",
        "test": "/var/folders/x1/T/pytest-of-noah/pytest-41/test_x0",
        "cell": "/var/folders/x1/T/ipykernel_99/42.py",
        "at": "0x104f8e2d0",
        "ids": ["a1B2c3D4e", "Z", "functions.python:0"],
    },
    {
        "home": r"C:\Users\mia",
        "here": r"C:\Users\mia\sales",
        "tmp": r"D:\tmp",
        "made": "", "named": "", "test": "", "cell": "",
        "at": "0x000001E5B5D3F0A0",
        "ids": ["1", "0", "2"],
    },
]  # fmt: skip
words = st.lists(st.sampled_from(["Which", "month", "in", "sales", "0xff", "/tmpfoo", "a.b", "«é»", "\n"]), max_size=8)
told = st.lists(st.sampled_from(["{home}", "{here}", "{tmp}", "{at}", "word", "({here})", "'{home}'", "{at}>"]))


def places(machine):
    return Places(machine["home"], machine["here"], (machine["tmp"],))


def body(machine, texts, **more):
    """A conversation with a call, on one machine."""
    first, second, third = machine["ids"]
    said = [" ".join(text).format(**machine) for text in texts]
    given_ = more.pop("given", None) or json.dumps({"path": said[0], "deep": [{"n": 1, "s": said[0]}]})
    calls = [
        {"id": first, "type": "function", "function": {"name": "python", "arguments": given_}},
        {"id": second, "type": "function", "function": {"name": "read", "arguments": "not { json"}},
    ]
    messages = [
        {"role": "system", "content": f"You are in {machine['here']}."},
        {"role": "user", "content": said[0]},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": second, "name": "read", "content": said[1]},
        {"role": "tool", "tool_call_id": first, "name": "python", "content": "2"},
        {"role": "tool", "tool_call_id": third, "name": "python", "content": "2"},
        {"role": "user", "content": said[2]},
    ]
    return {"model": machine["home"], "messages": messages, "tools": [{}], **more}


@given(st.tuples(told, told, told), st.permutations(MACHINES))
def test_a_question_has_one_key_on_every_machine(texts, machines):
    keys = {request(body(machine, texts), places(machine)).key for machine in machines}
    assert len(keys) == 1
    (key,) = keys
    assert len(key) == 16
    assert set(key) <= set("0123456789abcdef")


@given(st.tuples(words, words, words), st.sampled_from([0, 1, 2]), st.data())
def test_a_word_that_is_another_is_another_key(texts, where, data):
    asked = request(body(MACHINES[0], texts), places(MACHINES[0]))
    changed = [list(text) for text in texts]
    at = data.draw(st.integers(0, len(changed[where])))
    changed[where][at : at + data.draw(st.integers(0, 1))] = ["October"]
    assert request(body(MACHINES[0], changed), places(MACHINES[0])).key != asked.key


def test_what_a_request_is_not_known_by():
    texts = [["one"], ["two"], ["three"]]
    plain = body(MACHINES[0], texts)
    asked = request(plain, places(MACHINES[0]))
    spaced = json.dumps({"deep": [{"s": "one", "n": 1}], "path": "one"}, indent=3)
    for other in (
        body(MACHINES[0], texts, model="another", temperature=1, max_tokens=7, stream=True),
        body(MACHINES[0], texts, tools=[{"type": "function"}, {}]),
        body(MACHINES[0], texts, given=spaced),
        plain | {"messages": plain["messages"][1:]},
        plain | {"messages": [{"role": "developer", "content": "Be brief."}, *plain["messages"][1:]]},
    ):
        assert request(other, places(MACHINES[0])).key == asked.key
    for another in (
        body(MACHINES[0], texts, tools=[]),
        plain | {"messages": plain["messages"][:-1]},
        plain | {"messages": [*plain["messages"], plain["messages"][-1]]},
        body(MACHINES[0], texts, given=json.dumps({"path": "one", "deep": [{"n": 2, "s": "one"}]})),
    ):
        assert request(another, places(MACHINES[0])).key != asked.key


@pytest.mark.parametrize("name", ["made", "named", "test", "cell"])
def test_names_that_are_made_up_do_not_count(name):
    one, other = (plainly(f"see {machine[name]}:3", places(machine)) for machine in MACHINES[:2])
    assert one == other
    assert "<tmp>/" in one
    assert "*" in one


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("/export/mia", "<home>"),
        ("/export/mia/", "<home>/"),
        ("/export/mia.", "<home>."),
        ("file:///export/mia/x", "file://<home>/x"),
        ("/export/mia/work/sales/a.csv", "<here>/a.csv"),
        ('{"a": "x\\n/export/mia/b"}', '{"a": "x\\n<home>/b"}'),
        ("/export/miau", "/export/miau"),
        ("/export/mia-2/x", "/export/mia-2/x"),
        ("/export/mia.bak", "/export/mia.bak"),
        ("backup/export/mia", "backup/export/mia"),
        ("/export/mia/tmp/x", "<home>/tmp/x"),
        ("/tmp/report.csv", "<tmp>/report.csv"),
        ("/tmp/my-report.csv", "<tmp>/my-report.csv"),
        ("<Cell at 0x7f2a1c0de0f0>", "<Cell at 0x…>"),
        ("0xff 0xDEADBEEF 90x7f2a1c0de0f0", "0xff 0xDEADBEEF 90x7f2a1c0de0f0"),
    ],
)  # fmt: skip
def test_a_place_is_a_whole_path(text, becomes):
    assert plainly(text, places(MACHINES[0])) == becomes


@example(["/tmp", "/", "tmpabcdefgh", "/export/mia"])
@given(st.lists(st.sampled_from(["/export/mia", "/tmp", "/work", "x", " ", "/", ".", "<tmp>", "tmpabcdefgh", "\\n"])))
def test_a_normal_form_is_its_own(parts):
    once = plainly("".join(parts), places(MACHINES[0]))
    assert plainly(once, places(MACHINES[0])) == once


@given(st.lists(st.sampled_from(["/export/mia", "/tmp", "/work", "<home>", "<here>", "<tmp>", "x", " ", "/", "."])))
def test_a_result_is_in_the_folders_of_the_place_and_found_by_the_same_words(parts):
    here, there = Places("/export/mia", "/work", ("/tmp",)), Places("/export/bo", "/export/bo/w", ("/var/tmp", "/tmp"))
    normal = plainly("".join(parts), here)
    for place in (here, there, Places()):
        assert plainly(placed(normal, place), place) == normal


def test_folders_in_a_result_are_those_of_the_place_and_what_is_called_like_one_is_not():
    there = Places("/export/bo", "/export/bo/w", ("/var/tmp", "/tmp"))
    assert placed("no <here>/a, no <tmp>/b in <home>.", there) == "no /export/bo/w/a, no /var/tmp/b in /export/bo."
    assert placed("List<tmp> of <here>", there) == "List<tmp> of <here>"
    assert placed("<here>", Places()) == "<here>"


@pytest.mark.parametrize("nowhere", [Places(), Places("/", "", ("/", ".", "")), Places("relative", "C:", ())])
def test_what_is_no_place_is_left_alone(nowhere):
    text = "/ /export/mia C:\\Users relative . C:"
    assert plainly(text, nowhere) == text


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_arguments_mean_the_same_in_their_normal_form(value):
    normal = arguments(json.dumps(value), Places())
    assert json.loads(normal) == value
    assert arguments(normal, Places()) == normal


def test_arguments_that_are_too_deep_are_text():
    deep = "[" * 100_000
    assert arguments(f"{deep} /export/mia", places(MACHINES[0])) == f"{deep} <home>"


def test_an_image_is_its_digest():
    data = b"\x89PNG..."
    text = {"type": "text", "text": "see"}
    url = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    image = {"type": "image_url", "image_url": {"url": url}}
    (message,) = request({"messages": [{"role": "user", "content": [text, image]}]}, Places()).messages
    assert message["images"] == [f"image/png sha256:{hashlib.sha256(data).hexdigest()}"]
    assert message["content"] == "see"
    video = {"type": "video_url", "video_url": {"url": "v"}}
    (message,) = request({"messages": [{"role": "user", "content": [text, video]}]}, Places()).messages
    assert message["content"] == 'see\n{"type": "video_url", "video_url": {"url": "v"}}'
    for other in ("data:image/png;base64,A", "https://example.org/a.png"):
        image["image_url"]["url"] = other
        (message,) = request({"messages": [{"role": "user", "content": [text, image]}]}, Places()).messages
        assert message["images"][0] == other or message["images"][0].startswith("image/png sha256:")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda x: (
        st.lists(x, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "tool_calls", "tool_call_id", "function", "arguments", "id", "text", "type"]
            ),
            x,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["messages", "tools"]), anything | st.lists(anything)))
def test_whatever_is_sent_has_a_key(sent):
    asked = request(sent, places(MACHINES[0]))
    assert asked.key == request(json.loads(json.dumps(sent)), places(MACHINES[0])).key


@given(st.lists(st.text(max_size=4), max_size=6), st.data())
def test_a_request_that_goes_on_is_the_same_as_one_read_anew(texts, data):
    messages = tuple({"role": "user", "content": text} for text in texts)
    cut = data.draw(st.integers(0, len(messages)))
    before = Request(messages[:cut])
    assert Request(messages, True, before) == Request(messages, True)
    assert Request(messages, True, before).key == Request(messages, True).key
    assert replace(Request(messages, True, before), messages=messages[:cut]).key == Request(messages[:cut], True).key
