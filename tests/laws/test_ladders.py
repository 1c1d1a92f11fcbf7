"""What is done about each fault, and which fault a status is where nobody says more: the tables as a person relies on
them."""

from __future__ import annotations

import pytest

from hermes_kernel.core.classify import classify
from hermes_kernel.core.faults import LADDERS, Action, Fault, recover
from hermes_kernel.core.trouble import Trouble

PLENTY = dict.fromkeys(Action, 1)
WAITED_FOR = {
    Fault.RATE_LIMIT, Fault.PROACTIVE_RATE_LIMIT, Fault.OVERLOADED, Fault.SERVER_ERROR, Fault.TIMEOUT, Fault.STALE_STREAM,
    Fault.DISCONNECT, Fault.UNKNOWN,
}  # fmt: skip
MADE_SHORTER = {Fault.CONTEXT_OVERFLOW, Fault.PAYLOAD_TOO_LARGE}
ASKED_ELSEWHERE = {
    Fault.BILLING, Fault.AUTH, Fault.MODEL_NOT_FOUND, Fault.FORMAT_ERROR, Fault.SSL, Fault.CONTENT_FILTER,
    Fault.INVALID_RESPONSE,
}  # fmt: skip


def test_what_is_done_first():
    first = {fault: recover(fault, PLENTY) for fault in Fault}
    assert {fault for fault in Fault if first[fault] is Action.WAIT} == WAITED_FOR
    assert {fault for fault in Fault if first[fault] is Action.COMPRESS} == MADE_SHORTER
    assert {fault for fault in Fault if first[fault] is Action.FALL_BACK} == ASKED_ELSEWHERE
    assert first[Fault.UNICODE] is Action.REPAIR
    assert first[Fault.NOT_RECORDED] is Action.GIVE_UP


@pytest.mark.parametrize("fault", Fault)
def test_what_is_done_when_nothing_more_can_be_done(fault):
    assert recover(fault, {}) is (Action.REFUSE if fault is Fault.CONTENT_FILTER else Action.GIVE_UP)


def test_what_waiting_cannot_cure_is_never_waited_for():
    patient = {fault for fault, rungs in LADDERS.items() if Action.WAIT in rungs}
    assert patient == WAITED_FOR | {Fault.INVALID_RESPONSE}


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (400, Fault.FORMAT_ERROR), (401, Fault.AUTH), (402, Fault.BILLING), (403, Fault.AUTH), (404, Fault.MODEL_NOT_FOUND),
        (408, Fault.TIMEOUT), (413, Fault.PAYLOAD_TOO_LARGE), (422, Fault.FORMAT_ERROR), (429, Fault.RATE_LIMIT),
        (500, Fault.SERVER_ERROR), (502, Fault.SERVER_ERROR), (503, Fault.OVERLOADED), (504, Fault.TIMEOUT),
        (529, Fault.OVERLOADED),
    ],
)  # fmt: skip
def test_what_a_status_means_where_nobody_says_more(status, fault):
    assert classify(Trouble(status=status)) is fault
