"""What Tab offers and Shift-Tab tells, in a prompt and after ``%hermes``.

`completing` says what may stand there, `known` what there is in this notebook; `inspecting` tells what stands at the
cursor, `shifting` is asked for it; `marks` are those of a prompt.
"""
