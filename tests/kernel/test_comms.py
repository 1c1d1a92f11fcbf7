"""Controls in a page wait for ``idle`` before they send their next value: they hear it during a cell and after it."""

from __future__ import annotations

import time

CLICKABLE = """
import asyncio, ipywidgets
clicked, loop = asyncio.Event(), asyncio.get_running_loop()
button = ipywidgets.Button()
button.on_click(lambda _: loop.call_soon_threadsafe(clicked.set))
print('ready' + ':', button.model_id, flush=True)
await asyncio.wait_for(clicked.wait(), 10)
"""


def statuses(kernel, sent: str, others: list) -> list[str]:
    """What is told of this message, up to ``idle``; what belongs to a cell goes to `others`."""
    told: list[str] = []
    while told[-1:] != ["idle"]:
        message = kernel.client.get_iopub_msg(timeout=10)
        mine = message["parent_header"].get("msg_id") == sent
        if mine and message["header"]["msg_type"] == "status":
            told.append(message["content"]["execution_state"])
        elif not mine:
            others.append(message)
    return told


def click(kernel, model: str) -> str:
    """Press a button as a page does; the message's id. On 7.3 pages send it to a subshell of their own."""
    session = kernel.client.session
    content = {"comm_id": model, "data": {"method": "custom", "content": {"event": "click"}}}
    message = session.msg("comm_msg", content)
    if kernel.subshell:
        message["header"]["subshell_id"] = kernel.subshell
    kernel.client.shell_channel.send(message)
    return message["header"]["msg_id"]


def test_a_click_during_a_cell_is_handled_and_its_status_is_told_once(running):
    sent = running.send(running.python(CLICKABLE))
    seen = running.until(sent, "ready:")
    model = next(m["content"]["text"] for m in seen if "ready:" in m["content"].get("text", "")).split()[1]
    began, others = time.perf_counter(), []
    assert statuses(running, click(running, model), others) == ["busy", "idle"]
    seen += [each for each in others if each["parent_header"].get("msg_id") == sent]
    ran = running.finish(sent, began=began, seen=seen)
    assert ran.status == "ok", ran.error
    assert ran.seconds < 5


def test_a_click_between_two_cells_is_told_of_once_as_well(running):
    ran = running.run(
        running.python("import ipywidgets\nbetween = ipywidgets.Button()\nprint('model', between.model_id)")
    )
    sent, others = click(running, ran.stdout.split()[1]), []
    assert statuses(running, sent, others) == ["busy", "idle"]
    assert running.value("1 + 1") == "2"
    while running.client.iopub_channel.msg_ready():
        message = running.client.get_iopub_msg(timeout=1)
        assert message["parent_header"].get("msg_id") != sent


def test_without_the_extension_the_kernel_is_as_it_was(running):
    if running.name == "hermes":
        return
    handlers = (
        "[type(get_ipython().kernel.shell_handlers[k]).__name__ for k in ('comm_open', 'comm_msg', 'comm_close')]"
    )
    assert running.value(handlers) == repr(["function"] * 3)
    running.run("%unload_ext magics")
    assert running.value(handlers) == repr(["method"] * 3)
    running.run("%load_ext magics")
    assert running.value(handlers) == repr(["function"] * 3)
