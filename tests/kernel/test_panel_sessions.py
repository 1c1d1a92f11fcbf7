"""The panel of conversations, pressed as in a page: found as one types, read, gone on with, branched, named, its tree."""

from __future__ import annotations

import re

import duckdb

from hermes_kernel.testing import forever, say, stall
from hermes_kernel.world.store import Store
from tests.kernel.conftest import Kernel
from tests.kernel.pressing import Page

LIST = "Conversations"
EVIL = "<img src=x onerror=alert(1)> \x1b[31mred \u202egnp.exe"


def ask(kernel: Kernel, prompt: str, *, new: bool = True) -> str:
    """The session in which it was asked, a new one unless it is to be this."""
    if new:
        assert kernel.run("%hermes new").status == "ok"
    ran = kernel.run(kernel.prompt(prompt, "--no-cells"))
    assert ran.status == "ok", ran.error
    return kernel.value("_.session_id").strip("'")


def opened(kernel: Kernel, line: str = "%hermes sessions") -> Page:
    page = Page(kernel).show(line)
    page.until(lambda page: page.html(), "the chosen one")
    page.quiet()
    return page


def test_a_store_without_conversations_says_how_to_begin(running):
    page = Page(running).show("%hermes sessions")
    page.says("There are no conversations yet. Ask something in a cell: it is kept, and found here.")
    assert page.labels(LIST) == []
    page.lacks("Resume")


def test_it_opens_on_the_latest_with_its_beginning_and_end_and_is_a_table_where_nobody_looks(running, scripted):
    scripted(forever(say("In the reeds.")))
    ask(running, "Where is the bittern?")
    for n in range(3):
        last = ask(running, f"Turn {n} of the heron?", new=n == 0)
    page = opened(running)
    assert re.match(r"Turn 0 of the heron\? \(here\)  20\d\d-\d\d-\d\d \d\d:\d\d", page.labels(LIST)[0])
    assert "(here)" not in page.labels(LIST)[1]
    page.says("2 messages")
    page.says("Turn 0 of the heron?")
    assert "Turn 1 of the heron?" not in page.html()
    page.choose(LIST, "bittern")
    page.says("Where is the bittern?")
    assert "Turn 0" not in page.html()
    plain = running.run("%hermes sessions")
    assert plain.of("comm_open") == []
    assert last[:12] in plain.text


def test_what_is_typed_is_looked_for_once_the_keys_rest_and_finds_are_marked(running, scripted):
    scripted(say("The **godwit** probes the mud."), say("Nothing."))
    first, _ = ask(running, "Who probes the mud?"), ask(running, "And the sky?")
    page = opened(running)
    for text in ("g", "go", "god", "godwi"):
        page.type("Search", text)
    page.says("<mark>godwit</mark>")
    (line,) = page.labels(LIST)
    assert "Who probes the mud?" in line
    assert "1 find" in line
    page.says("1 message found.")
    page.press("Open")
    page.says("[1] user")
    page.says(first[:12])
    page.type("Search", "godw")
    page.says("<mark>godwit</mark>")
    page.type("Search", "nosuchword")
    page.says("Nothing was found.")
    assert page.labels(LIST) == []
    page.lacks("Open")
    page.type("Search", "role:king mud")
    page.says("role")
    page.type("Search", "")
    page.until(lambda page: len(page.labels(LIST)) > 2)


def test_resuming_makes_it_the_notebooks_conversation_and_says_so(running, scripted):
    server = scripted(forever(say("Yes.")))
    session = ask(running, "Is it an avocet?")
    ask(running, "Something else?")
    page = opened(running)
    page.choose(LIST, "avocet")
    page.says("Is it an avocet?")
    page.press("Resume")
    page.says(f"This notebook goes on with {session[:12]}, 1 turn.")
    page.says("variables are what they are now")
    assert [each for each in page.labels(LIST) if "(here)" in each] == [
        each for each in page.labels(LIST) if "avocet" in each
    ]
    assert ask(running, "Sure?", new=False) == session
    assert [m["content"] for m in server.requests[-1].messages if m["role"] == "user"] == ["Is it an avocet?", "Sure?"]


def test_a_branch_at_a_turn_is_a_copy_and_one_at_a_turn_that_is_not_there_leaves_all_as_it_was(running, scripted):
    server = scripted(forever(say("Yes.")))
    parent = ask(running, "First dunlin?")
    ask(running, "Second dunlin?", new=False)
    there = ask(running, "Another one?")
    page = opened(running)
    page.choose(LIST, "First dunlin")
    page.says("First dunlin?")
    page.press("Branch…")
    page.offers("Branch it")
    page.says("Second dunlin?")
    page.type("Up to turn", "9")
    page.press("Branch it")
    page.says("There is no turn 9 to branch from: this session has 2 of its own.")
    assert ask(running, "Where am I?", new=False) == there
    page.type("Up to turn", "1")
    page.press("Branch it")
    page.says(f"This notebook goes on with a copy of {parent[:12]}, its first 1 turn.")
    page.lacks("Branch it")
    child = ask(running, "Instead?", new=False)
    assert child not in (parent, there)
    assert [m["content"] for m in server.requests[-1].messages if m["role"] == "user"] == ["First dunlin?", "Instead?"]


def test_the_tree_of_the_chosen_one_is_a_list_to_choose_in(running, scripted):
    scripted(forever(say("Yes.")))
    parent = ask(running, "The root of it?")
    running.run("%hermes branch")
    child = ask(running, "A twig of it?", new=False)
    document = running.run(f"%hermes sessions tree {child}")
    assert f"{parent[:12]}  The root of it?" in document.text
    assert f"└─ {child[:12]}  branch · A twig of it?" in document.text
    assert "← this conversation" in document.text
    assert document.text == running.run("%hermes sessions tree").text
    page = opened(running)
    page.press("Tree")
    page.says("2 sessions.")
    assert page.labels(LIST)[0].startswith("The root of it? · 20")
    assert re.match(r"└─ branch · A twig of it\? · .* \(here\)$", page.labels(LIST)[1])
    page.choose(LIST, "The root")
    page.says(f"branches: {child[:12]}")
    page.press("List")
    page.until(lambda page: page.has("Tree") and not any("└─" in each for each in page.labels(LIST)))
    assert running.run("%hermes sessions tree nosuch").status == "error"


def test_any_conversation_can_be_named_the_present_one_and_another(running, scripted):
    scripted(forever(say("Yes.")))
    ask(running, "An old stint?")
    ask(running, "A new stint?")
    page = opened(running)
    for which, name in (("An old stint?", "The old stint"), ("A new stint?", "The <b>new</b> one")):
        page.choose(LIST, which)
        page.press("Title…")
        page.offers("Save")
        page.type("Title", name)
        page.press("Save")
        page.says("It is called so now.")
        assert any(name in each for each in page.labels(LIST))
    assert "<b>new" not in page.html()
    page.press("Title…")
    page.offers("Save")
    assert page.value("Title") == "The <b>new</b> one"
    page.type("Title", "x" * 101)
    page.press("Save")
    page.says("A title is one line of 1 to 100 characters")


def test_while_a_turn_runs_it_is_looked_at_and_not_left(running, scripted):
    scripted(say("Yes."), say("No."), stall("never", after=1, seconds=60))
    ask(running, "A first knot?")
    ask(running, "A second knot?")
    page = opened(running)
    sent = running.send(running.prompt("Go on.", "--no-cells"), cell_id="c1")
    page.choose(LIST, "A first knot?")
    page.says("A first knot?")
    page.press("Resume")
    page.says("A turn is running in this notebook: stop it or wait for it, then resume it.")
    page.type("Search", "second knot")
    page.says("<mark>knot</mark>")
    running.interrupt()
    running.finish(sent)


def test_one_that_is_open_elsewhere_is_not_resumed_and_the_panel_stays_usable(running, scripted):
    scripted(forever(say("Yes.")))
    session = ask(running, "Who has the sanderling?")
    running.run("%hermes new")
    claimed = f"held = Store(Path({str(running.home)!r})).claim({session!r})"
    running.run(running.python(f"from pathlib import Path\nfrom hermes_kernel.world.store import Store\n{claimed}"))
    page = opened(running)
    page.choose(LIST, "sanderling")
    page.press("Resume")
    page.says("in use")
    running.run(running.python("held.close()"))
    page.press("Resume")
    page.says(f"This notebook goes on with {session[:12]}")


def test_a_store_that_somebody_holds_open_is_said_and_the_panel_is_good_for_more_afterwards(running, scripted):
    scripted(forever(say("Yes.")))
    ask(running, "Is it a ruff?")
    page = opened(running)
    kept = Store(running.home)
    kept.fold()
    with duckdb.connect(str(kept.home.places.database)):
        page.choose("Show", "all kinds")
        page.says("is held open by process")
    page.choose("Show", "conversations")
    page.until(lambda page: "is held open by process" not in page.html())
    page.press("Tree")
    page.says("1 session.")


def test_of_a_notebook_that_has_a_name_its_own_are_listed(running, scripted):
    scripted(forever(say("Yes.")))
    ask(running, "Somewhere else?")
    running.run(running.python("import os; os.environ['JPY_SESSION_NAME'] = '/tmp/birds.ipynb'"))
    try:
        page = opened(running)
        page.choose("Show", "this notebook's")
        page.says("This notebook has none yet.")
        assert page.labels(LIST) == []
        page.type("Search", "somewhere")
        page.says("Nothing was found.")
        page.choose("Show", "all kinds")
        page.says("<mark>Somewhere</mark>")
    finally:
        running.run(running.python("del os.environ['JPY_SESSION_NAME']"))
    assert "this notebook's" not in opened(running).labels("Show")


def test_hostile_words_are_words_in_every_part_of_it(running, scripted):
    scripted(forever(say(f"{EVIL} phalarope")))
    ask(running, f"{EVIL} phalarope")
    page = opened(running)
    page.says("&lt;img src=x")
    page.type("Search", "phalarope")
    page.says("<mark>phalarope</mark>")
    for press in ("Open", "Tree", "List", "Branch…"):
        page.press(press)
        page.quiet()
        said = page.html() + "".join(page.labels(LIST))
        assert "<img" not in page.html()
        assert not re.search("[\x1b\u202e]", said)
    page.press("Cancel")
    assert not any("<img" in data.get("text/html", "") for data in page.outputs)
    assert not any(re.search("[\x1b\u202e]", str(list(data.values()))) for data in page.outputs)


def test_all_kinds_are_listed_and_the_panel_is_the_only_one_of_its_name(running, scripted):
    scripted(forever(say("Yes.")))
    for prompt in ("Who calls?", "Who answers?"):
        ask(running, prompt)
    first = opened(running)
    page = opened(running, "%hermes sessions 1 all")
    assert len(page.labels(LIST)) == 1
    page.press("More")
    page.until(lambda page: len(page.labels(LIST)) > 1)
    assert "chat" in page.labels(LIST)[0]
    assert first.models.keys() - first.closed <= page.closed
