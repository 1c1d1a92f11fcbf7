"""Sessions as files for people and other programs: Markdown to read, a notebook to run, lines of JSON to keep.

Pure: records in, text out. Whoever exports brings the records and writes the file.
"""

from hermes_kernel.export.exporting import FORMATS, export, format_of
from hermes_kernel.export.notebook import KERNELS
from hermes_kernel.export.saving import save

__all__ = ["FORMATS", "KERNELS", "export", "format_of", "save"]
