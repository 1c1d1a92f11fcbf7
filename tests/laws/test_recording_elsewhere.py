"""What is another one in each home, in each folder and at each hour is the same in a recording, and is what it is here
again when that is played."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.recording.cassette import Block, Exchange, Head, Request
from hermes_kernel.core.recording.folders import Marked
from hermes_kernel.core.recording.headers import by_seconds
from hermes_kernel.core.recording.ours import anywhere, at_home, without_ids
from hermes_kernel.core.recording.windows import WINDOWS, windows_of, with_windows

QUESTION = Request(({"role": "user", "content": "Where?"},))
FOLDERS = {"tmp": "/tmp", "home": "/opt/mia", "here": "/opt/mia/work", "hermes": "/opt/mia/.hermes"}
ONE, OTHER = "0123456789abcdef" * 2, "fedcba9876543210" * 2
texts = st.lists(st.sampled_from(["/opt/mia", "/opt/mia/work", "/tmp", "/", " ", "a", ".", "-", "data", "\n"]))


def filled(text, folders):
    blocks = Marked(folders).fill(Exchange(QUESTION, blocks=(Block(text.encode()),)))
    return b"".join(block.data for block in blocks).decode()


def asked(*contents, **more):
    return Request(tuple({"role": "user", "content": content, **more} for content in contents))


# --- folders


@given(texts.map("".join))
def test_folders_are_marks_in_a_recording_and_the_same_folders_again_where_they_are_filled_in(text):
    assert filled(Marked(FOLDERS).hide(text), FOLDERS) == text


def test_a_folder_is_the_one_in_which_it_is_played():
    there = {**FOLDERS, "here": '/srv/"bo"'}
    assert filled(Marked(FOLDERS).hide("ls /opt/mia/work/x"), there) == 'ls /srv/\\"bo\\"/x'


def test_no_word_is_taken_for_a_folder_and_the_root_of_all_is_none():
    assert Marked(FOLDERS).hide("/opt/mia/work/x, /opt/miami, a/opt/mia") == "⟦here⟧/x, /opt/miami, a/opt/mia"
    assert Marked({"here": "/"}).hide("/etc/hosts") == "/etc/hosts"


def test_a_folder_may_be_an_address_or_stand_in_arguments_that_are_plain_ascii():
    marked = Marked({"home": "/opt/józef", "here": '/srv/"bo"'})
    assert marked.hide("file:///opt/józef/x") == "file://⟦home⟧/x"
    assert marked.hide('{"path": "/opt/j\\u00f3zef/x"}') == '{"path": "⟦home⟧/x"}'
    assert marked.hide('{"path": "/srv/\\"bo\\"/x"}') == '{"path": "/srv/\\"bo\\"/x"}'
    assert marked.here("⟦home⟧/x and ⟦here⟧") == '/opt/józef/x and /srv/"bo"'


# --- homes


@given(texts.map("".join), st.sampled_from(["/opt/mia/.hermes", "$HERMES_HOME"]))
def test_where_a_long_result_lies_is_in_the_home_in_which_it_is_played(text, home):
    text += f" all of it is in {home}/results/one.txt"
    assert at_home(anywhere(text, home), home) == text


@pytest.mark.parametrize("home", ["<home>/.hermes", "/srv/bo", "$HERMES_HOME"])
def test_a_long_result_lies_in_the_same_place_whichever_home_it_is(home):
    assert anywhere(f"the whole of it: {home}/results/1.txt", "/srv/bo" if home[0] == "$" else home) == (
        "the whole of it: <results>/1.txt"
    )


def test_ids_are_numbered_as_they_appear_in_messages_and_in_calls():
    call = {"id": "1", "name": "resume", "arguments": f'{{"session": "{OTHER}"}}'}
    told = without_ids(asked(f"{ONE} after {OTHER}", calls=[call]), "/srv/bo").messages[0]
    assert told["content"] == "<id 1> after <id 2>"
    assert told["calls"] == [{**call, "arguments": '{"session": "<id 2>"}'}]
    assert without_ids(asked(ONE), "/srv/bo").key == without_ids(asked(OTHER), "/srv/bo").key


def test_what_a_subagent_was_lent_does_not_count_and_what_it_used_does():
    first, other, more = (
        without_ids(asked(f'1. "a": completed, {calls} calls, session {ONE}'), "/srv/bo").key
        for calls in ("2 of 12", "2 of 29", "3 of 12")
    )
    assert first == other != more


def test_a_request_without_ids_stays_the_very_one():
    request = asked("Which of them?", "That of 2025.")
    assert without_ids(request, "/srv/bo") is request


# --- hours


def test_a_hint_that_names_an_instant_is_told_in_seconds_and_none_else_is_changed():
    now = 1_767_225_600.0
    headers = {
        "retry-after": "Thu, 01 Jan 2026 00:00:20 GMT",
        "x-ratelimit-reset-requests": "2m30s",
        "x-ratelimit-limit-requests": "60",
        "content-type": "application/json",
    }
    assert by_seconds(headers, now) == {**headers, "retry-after": "20"}
    assert by_seconds({"retry-after": "7"}, now) == {"retry-after": "7"}
    assert by_seconds({"retry-after": "soon"}, now) == {"retry-after": "soon"}


# --- windows


@given(st.dictionaries(st.text(min_size=1), st.integers(0, 10**9 - 1), max_size=3))
def test_windows_are_read_from_a_head_as_they_were_told_to_it(windows):
    head = Head({"model": "m"}, "1.0")
    told = with_windows(head, windows)
    assert windows_of(told) == windows
    assert (told.settings["model"], told.version) == ("m", "1.0")
    assert with_windows(told, {}) == told


@pytest.mark.parametrize("said", ["m=8", ("m",), ("m=",), ("m=-8",), ("m=" + "8" * 10,), 8])
def test_a_head_that_somebody_else_wrote_tells_no_window_that_is_none(said):
    assert windows_of(Head({WINDOWS: said})) == {}
