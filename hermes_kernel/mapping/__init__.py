"""Many prompts over many rows: each row a turn of its own, in the store, asked once and answered honestly."""

from hermes_kernel.mapping.mapper import Mapper
from hermes_kernel.mapping.outcome import Row, RowOutcome
from hermes_kernel.mapping.result import MapResult, Progress

__all__ = ["MapResult", "Mapper", "Progress", "Row", "RowOutcome"]
