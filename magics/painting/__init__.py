"""Outputs that change while something goes on. Knows what is seen, not what is done.

`painter` says what a painter is, `live` is the one of notebooks; `sighted` is for work that is no turn. What they paint
on is a `stage`: `turning` is the panel of a turn, `answer` its text, `question` what a person is asked, `stopping` the
button; `quota` bounds how often all of it may change.
"""
