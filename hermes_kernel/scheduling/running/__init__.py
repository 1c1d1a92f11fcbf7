"""A run: a notebook that is put together, executed in a kernel of its own, read, and kept beside those before it.

`places` says where it lies, `composing` and `template` what is in it, `executing` what happens to it, `saving` how it
is on disk at any moment, `telling` what it reports; `runner` is all of that.
"""

from hermes_kernel.scheduling.running.places import notebook_path
from hermes_kernel.scheduling.running.runner import NotebookRunner

__all__ = ["NotebookRunner", "notebook_path"]
