"""Patching: one place is found however it is misquoted, several are refused, and nothing outside the place changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.learning.patch_diffs import applied, hunks
from hermes_kernel.core.learning.patching import NoPatch, patched

TEXT = """\
# Cleaning

def load(path):
    frame = read(path)
    if frame.empty:
        return None
    return frame

Say “what” is odd — and why,
in one line.

| a | b |
"""


@pytest.mark.parametrize(
    ("old", "new", "how", "line"),
    [
        ("frame = read(path)", "frame = scan(path)", "", "    frame = scan(path)"),
        ("def load(path):  \n    frame = read(path)", "def load(p):\n    f = 1", "blanks at line ends", "    f = 1"),
        ("if frame.empty:\n    return None", "if not frame:\n    raise Empty", "indentation", "        raise Empty"),
        ("if frame.empty:\nreturn None\nreturn frame", "if x:\n    y", "indentation of single lines", "        y"),
        ("frame  =  read(path)", "frame = scan(path)", "white space", "    frame = scan(path)"),
        ('Say "what" is odd - and why, in one', "Say it in one", "typography", "Say it in one line."),
        ("frame = read(path)\\n    if frame.empty:", "if frame:", "escaped characters", "    if frame:"),
        ("def load(path):\n  x = 1\n  if frame.empty:\n    return None\n  return frame", "gone = 1", "some lines in the middle", "gone = 1"),
        ("\n\ndef load(path):   \n    frame = read(path)\n", "\n\ndef load(q):\n    pass\n", "blanks at line ends", "    pass"),
        ("  frame =  read(path)\n    if frame.empty:  ", "  one\n    two", "white space", "      two"),
    ],
)  # fmt: skip
def test_a_misquoted_passage_is_found(old: str, new: str, how: str, line: str):
    done = patched(TEXT, old, new)
    assert done.how == how
    assert line in done.text.splitlines()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("frame", "x", "3 places"),
        ("  return  ", "x", "2 places"),
        ("def load(path):\n    frame = scan(path)", "x", "at line 4 there is\nframe = read(path)\nand not\nframe = scan(path)"),
        ("in one line.\n\n| a | b |\nmore", "x", "(the end of the file)"),
        ("freme = read(path)", "x", "4: frame = read(path)"),
        ("nothing like it at all", "x", "no line is like"),
        ("    ", "x", "old is empty"),
        ("frame", "frame", "the same"),
        ("*** Begin Patch\n-a", "x", "as `patch`"),
        ("frame = load(path)", "if frame.empty:\n        return None", "seems to be done already"),
        ("\\n\\t", "x", "no line is like"),
        ("a\nb", "x", "no line is like"),
        ("x\\y", "x", "no line is like"),
        ("zz\n# Cleaning\nqq", "q", "no line is like"),
        ("\u200b", "q", "no line is like"),
    ],
)  # fmt: skip
def test_what_cannot_be_placed_is_refused_with_the_reason(old: str, new: str, told: str):
    with pytest.raises(NoPatch) as refused:
        patched(TEXT, old, new)
    assert told in str(refused.value)


def test_an_empty_file_is_not_patched():
    with pytest.raises(NoPatch, match="write_file"):
        patched("", "a", "b")


def test_many_places_are_named_only_in_part():
    with pytest.raises(NoPatch, match=r"12 places \(lines 1, 2, .*, 10, …\)"):
        patched("a b\n" * 12, "a b", "c")
    with pytest.raises(NoPatch, match="but for white space, stands in 2 places"):
        patched("a b c\na b c\n", "a  b", "c")


def test_every_place_is_replaced_where_all_are_meant():
    assert patched(TEXT, "frame", "table", every=True).text == TEXT.replace("frame", "table")
    assert patched("  a\n  b\nx\n    a\n    b\n", "a\nb", "c\nd", every=True).text == "  c\n  d\nx\n    c\n    d\n"


def test_line_ends_of_another_system_stay():
    assert patched("a\r\nb\r\nc\r\n", "a\nb", "x\ny").text == "x\r\ny\r\nc\r\n"


def test_lines_can_be_taken_out():
    assert patched("a\n  b\nc\n", "b \n", "").text == "a\nc\n"


def test_blocks_are_not_looked_for_without_end():
    text = "begin\nx\n" * 20_000
    with pytest.raises(NoPatch):
        patched(text, "begin\ny\nz\nq\nend", "")


def test_overlapping_blocks_are_counted_once():
    with pytest.raises(NoPatch, match="2 places"):
        patched("b\n1\n2\ne\nb\n1\n2\ne\n", "b\n1\n3\ne", "")


LINES = st.lists(st.text("ab \t“-", max_size=6), min_size=1, max_size=12)


@given(LINES, LINES, st.text("ab \n", max_size=12), st.booleans())
def test_nothing_outside_of_what_was_found_changes(lines: list[str], quoted: list[str], new: str, every: bool):
    text = "\n".join(lines)
    try:
        done = patched(text, "\n".join(quoted), new, every=every)
    except NoPatch as refused:
        assert str(refused)
        return
    kept, at = [], 0
    for start, end, put in done.places:
        assert at <= start <= end <= len(text)
        kept += [text[at:start], put]
        at = end
    assert "".join([*kept, text[at:]]) == done.text
    assert every or len(done.places) == 1


@given(LINES, st.data())
def test_a_passage_that_occurs_once_is_always_found(lines: list[str], data: st.DataObject):
    text = "\n".join(lines)
    start = data.draw(st.integers(0, len(text)))
    old = text[start : data.draw(st.integers(start, len(text)))]
    if old.strip() and text.count(old) == 1:
        assert patched(text, old, "NEW").text == text.replace(old, "NEW")


V4A = """\
*** Begin Patch
*** Update File: SKILL.md
@@ def load
 def load(path):
-    frame = read(path)
+    frame = scan(path)
@@
-    return frame
+    return frame.copy()
*** End Patch
"""
UNIFIED = """\
diff --git a/SKILL.md b/SKILL.md
index 1..2 100644
--- a/SKILL.md
+++ b/SKILL.md
@@ -4,2 +4,2 @@ def load(path):
-    frame = read(path)
+    frame = scan(path)
     if frame.empty:
@@ -7,1 +7,1 @@
-    return frame
+    return frame.copy()
\\ No newline at end of file
"""


@pytest.mark.parametrize("diff", [V4A, UNIFIED])
def test_a_diff_is_taken_in_both_forms(diff: str):
    wanted = hunks(diff)
    assert {hunk.file for hunk in wanted} == {"SKILL.md"}
    after = applied(TEXT, wanted)
    assert after == TEXT.replace("read(path)", "scan(path)").replace("    return frame\n", "    return frame.copy()\n")


def test_lines_can_be_taken_out_by_a_diff():
    assert applied("a\nb\nc\n", hunks("@@\n-b\n")) == "a\nc\n"


@pytest.mark.parametrize(
    ("diff", "told"),
    [
        ("change a to b", "no diff"),
        ("*** Begin Patch\n*** Add File: x.md\n+a", "write_file"),
        ("*** Delete File: x.md\n-a", "remove_file"),
        ("*** Update File: x.md\n*** Move to: y.md\n-a", "moved"),
        ("--- a/x\n+++ /dev/null\n-a", "remove_file"),
        ("--- /dev/null\n+++ b/x\n+a", "write_file"),
        ("@@\n+only added", "a line of what is around"),
        ("--- a/x\n+++ b/x\n@@\n same", "changes nothing"),
    ],
)
def test_a_diff_that_cannot_be_applied_is_refused_with_the_way_to_go(diff: str, told: str):
    with pytest.raises(NoPatch) as refused:
        hunks(diff)
    assert told in str(refused.value)


def test_the_part_of_a_diff_that_is_not_there_is_named():
    with pytest.raises(NoPatch, match="Part 2 of the 2 of the diff: "):
        applied("a\nb\n", hunks("@@\n-a\n+x\n@@\n-q\n+y\n"))
    with pytest.raises(NoPatch, match=r"\AThe passage was not found"):
        applied("a\nb\n", hunks("@@\n-q\n+y\n"))
