"""Sessions as files for people and other programs: Markdown to read, a notebook to run, lines of JSON to keep.

Records in, text out; `save` alone touches a disk, and nothing here reads a store.
"""

from hermes_kernel.export.exporting import FORMATS, export, format_of
from hermes_kernel.export.notebook import KERNELS
from hermes_kernel.export.saving import save, save_over

__all__ = ["FORMATS", "KERNELS", "export", "format_of", "save", "save_over"]
