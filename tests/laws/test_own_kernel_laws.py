"""What a kernel says is hostile: whatever it is, it is taken, and told in bounds and without colours."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.world.kernels.heard import FRAMES, TRACEBACK_LINES, Heard, explained
from hermes_kernel.world.tools.capture import Seen

WORDS = st.text(alphabet=st.characters(exclude_categories=())) | st.sampled_from(
    [
        "Cell In[1], line 2, in f(x)",
        "----> 3 f()",
        "File /a/b.py:3, in g(a=(1, 2))",
        "Traceback (most recent call last)",
        "\x1b[31mred\x1b[0m",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)
KEYS = ("text", "name", "data", "execution_state", "ename", "evalue", "traceback", "status")
KINDS = (
    "stream",
    "display_data",
    "execute_result",
    "error",
    "status",
    "update_display_data",
    "clear_output",
    "comm_open",
)
CONTENTS = st.dictionaries(
    st.sampled_from(KEYS), VALUES | st.dictionaries(st.sampled_from(("text/plain", "image/png", "text/html")), VALUES)
)


def heard():
    loop = asyncio.new_event_loop()
    try:
        return Heard(Seen("on", where=""), loop.create_future(), loop.create_future())
    finally:
        loop.close()


@given(st.lists(st.tuples(st.sampled_from(KINDS), CONTENTS), max_size=6))
def test_whatever_is_published_is_taken_and_can_be_told(messages):
    taken = heard()
    for kind, content in messages:
        taken.iopub({"header": {"msg_type": kind}, "content": content})
    assert taken.count == len(messages)
    assert isinstance(taken.seen.text() + taken.problem, str)


@given(st.lists(WORDS, max_size=60), st.text(max_size=20), st.text(max_size=20))
def test_an_error_is_told_in_a_few_lines_with_what_was_raised(traceback, name, value):
    told = explained({"ename": name, "evalue": value, "traceback": traceback})
    assert told
    assert "\x1b[31m" not in told
    most = max(TRACEBACK_LINES, 1 + 2 * FRAMES)
    assert len(told.splitlines()) <= most + len(f"{name}: {value}".splitlines()) + 1


def test_the_last_frame_stands_before_what_was_raised():
    frames = [f"Cell In[1], line {n}, in f{n}()\n----> {n} call({n})" for n in range(1, 30)]
    told = explained({"ename": "E", "evalue": "why", "traceback": frames}).splitlines()
    assert told[0] == "Traceback (innermost last):"
    assert told[-2:] == ["  Cell In[1], line 29, in f29: call(29)", "E: why"]
    assert len(told) == FRAMES + 2
