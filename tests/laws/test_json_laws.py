"""JSON told apart: whole, cut off, broken, repairable. What is cut off never passes for whole, whatever it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.json_repair import is_object, mend
from hermes_kernel.core.json_state import State, json_state
from hermes_kernel.core.lenient_json import Unreadable, read

law = settings(deadline=None)
texts = st.text(max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(texts, values, max_size=5)
spelt = st.builds(
    lambda value, indent, ascii_only: json.dumps(value, indent=indent, ensure_ascii=ascii_only),
    objects,
    st.sampled_from([None, 0, 2]),
    st.booleans(),
)


@law
@given(spelt)
def test_a_whole_object_is_whole_and_taken_as_the_model_spelt_it(text):
    assert json_state(text) is State.WHOLE
    assert is_object(text)
    mended = mend(text)
    assert (mended.flaw, mended.cut) == ("", False)
    assert json.loads(mended.arguments) == json.loads(text)


@law
@given(spelt, st.data())
def test_every_beginning_of_an_object_is_a_beginning_and_is_never_run(text, data):
    part = text[: data.draw(st.integers(1, len(text) - 1))]
    assert json_state(part) is State.PREFIX
    mended = mend(part)
    assert mended.cut
    assert mended.flaw
    assert mended.arguments == part
    assert not is_object(part)


@law
@given(spelt)
def test_an_object_that_was_encoded_again_and_again_comes_out_once(text):
    twice = json.dumps(text)
    assert json.loads(mend(twice).arguments) == json.loads(text)
    assert json.loads(mend(json.dumps(twice)).arguments) == json.loads(text)


@law
@given(values)
def test_the_lenient_reader_reads_all_json(value):
    assert read(json.dumps(value)) == value


@law
@given(objects)
def test_python_literals_are_read_as_what_they_mean(value):
    assert read(repr(value)) == value


@law
@given(st.text() | spelt.map(lambda text: text[::-1]))
def test_anything_at_all_is_either_an_object_or_has_a_flaw_in_one_line(text):
    mended = mend(text)
    if mended.flaw:
        assert "\n" not in mended.flaw
        assert mended.arguments
    else:
        assert isinstance(json.loads(mended.arguments), dict)
        assert json.loads(mended.arguments) or "{" in text or not text.strip(), "nothing is lost in silence"
        mended.arguments.encode()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('{"a": 1,}', {"a": 1}),
        ("{'a': 'b'}", {"a": "b"}),
        ("{'a': 'it's'}", {"a": "it's"}),
        ('{"code": "print("hi")"}', {"code": 'print("hi")'}),
        ('{"code": "a\nb\tc"}', {"code": "a\nb\tc"}),
        ('{a: True, b: None, "c": False,}', {"a": True, "b": None, "c": False}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('{"code": """x = 1\nprint("a", \'b\')"""}', {"code": "x = 1\nprint(\"a\", 'b')"}),
        ('{"a": 1, /* why */ "b": 2} // done', {"a": 1, "b": 2}),
        ('{"a": [1, 2.5, -3e2, +4, .5, 1_000,], # so\n}', {"a": [1, 2.5, -300.0, 4, 0.5, 1000]}),
        ("{“a”: “b”}", {"a": "b"}),
        ('{"path": "C:\\dir\\new", "q": \'\\u00e9\\\'\'}', {"path": "C:\\dir\new", "q": "é'"}),
        ('{"a": NaN, "b": -Infinity}', {"a": None, "b": None}),
        ("{a: 1e999}", {"a": None}),
        ('{"a": -1e999, "b": "x\ny"}', {"a": None, "b": "x\ny"}),
        ('{"a": "\\ud83d", "b": "\\ud83d\\ude00"}', {"a": "\ufffd", "b": "😀"}),
        ("  ", {}),
        ('{"a": {"b": [{"c": undefined}]}}', {"a": {"b": [{"c": None}]}}),
        ("{'a': '\\x41\\U0001F600\\UFFFFFFFF\\q'}", {"a": "A😀\ufffd\\q"}),
        ('{"a": "one\\\ntwo"}', {"a": "onetwo"}),
    ],
)
def test_what_models_write_when_they_mean_json(text, meant):
    mended = mend(text)
    assert mended.flaw == ""
    assert json.loads(mended.arguments) == meant


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[1, 2]", "a list"),
        ('"hello"', "a string"),
        ("42", "42"),
        ("null", "null"),
        ("nonsense", "not valid JSON"),
        ('{"a": 1} and more', "not valid JSON"),
        ("{'a' 1}", "not valid JSON"),
        ('{"a": ]}', "not valid JSON"),
        ("{'a': [1 2]}", "not valid JSON"),
        ("{'a': 'b", "not valid JSON"),
        ("{'a': '''b", "not valid JSON"),
        ("{'a': \\", "not valid JSON"),
        ("{a 1}", "not valid JSON"),
        ("{?: 1}", "not valid JSON"),
        ('{"a": ' + "9" * 5000 + "}", "a number is too long"),
        ("[" * 9999 + "]" * 9999, "nested too deeply"),
        ("{'a':" * 70 + "1" + "}" * 70, "not valid JSON"),
        (json.dumps('{"a": '), "cut off"),
        (json.dumps("{'a' 1}"), "not valid JSON"),
    ],
)
def test_what_cannot_be_used_says_why(text, complaint):
    assert complaint in mend(text).flaw


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("", State.PREFIX),
        (" \n", State.PREFIX),
        ("tru", State.PREFIX),
        ("true", State.WHOLE),
        ("truer", State.BROKEN),
        ("-", State.PREFIX),
        ("1.", State.PREFIX),
        ("1e+", State.PREFIX),
        ("1.5e3", State.WHOLE),
        ("01", State.BROKEN),
        ('"a\\', State.PREFIX),
        ('"a\\u12', State.PREFIX),
        ('"a\\x', State.BROKEN),
        ('{"a":1 "b"', State.BROKEN),
        ('{"a" 1', State.BROKEN),
        ("{1", State.BROKEN),
        ("{]", State.BROKEN),
        ("[}", State.BROKEN),
        ("[1,]", State.BROKEN),
        ("[1}", State.BROKEN),
        ('{"a":[]} x', State.BROKEN),
        ('{"a": "raw\nnewline', State.PREFIX),
        ("}", State.BROKEN),
    ],
)
def test_states_of_json(text, state):
    assert json_state(text) is state


def test_an_object_needs_both_braces():
    assert not is_object("{")
    assert not is_object("[1]")
    assert not is_object("{'a': 1}")


def test_the_reader_stops_at_rubbish():
    with pytest.raises(Unreadable):
        read("1 2")
    with pytest.raises(Unreadable):
        read("")
