"""What a person is told to type is set as code, and nothing else in a note takes effect."""

from __future__ import annotations

from hermes_kernel.view.sights import Looking


def test_what_is_to_be_typed_is_set_as_code_and_what_stands_in_it_stays_words() -> None:
    page = Looking(
        "what is worth remembering", ("USER.md + Likes <b>tea</b>", "`%hermes show <i>1</i>` reads how")
    ).html(0)
    assert "<code>%hermes show &lt;i&gt;1&lt;/i&gt;</code> reads how" in page
    assert "<b>" not in page
    assert "<i>" not in page
