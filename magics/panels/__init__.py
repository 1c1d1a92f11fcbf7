"""What a person can press and type in: a panel for each command that has one, made of core `ipywidgets` controls.

`board` is what all of them stand on, `faces` says which command has which. A panel is a document as well: where there
are no widgets, or nobody looks, the same command shows that document alone.
"""
