"""A run: a notebook that is put together, executed in a kernel of its own, read, and kept beside those before it.

`shelf` says where it lies, `composing` and `template` what is in it, `executing` what happens to it, `listening` what
is kept of what it shows, `saving` how it is on disk at any moment, `reporting` what it says; `runner` is all of that.
"""

from hermes_kernel.scheduling.running.runner import NotebookRunner
from hermes_kernel.scheduling.running.shelf import notebook_path

__all__ = ["NotebookRunner", "notebook_path"]
