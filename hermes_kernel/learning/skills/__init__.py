"""Skills: folders of instructions that are offered, found, read, marked and kept in order.

`library` is for whoever reads them: `disk` says where they lie, `reading` what is in one, `marks` what is said of it
beside, and the `shelf` all of that. `workshop` is for whoever changes them: `changing` a folder, `shelving` it away or
`installing` another, after `checking` it, with `consent`; `history` keeps what was. A model has both by `viewing` and
`skill_manage`, a person by what is `asked`.
"""
