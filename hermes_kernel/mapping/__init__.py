"""Many prompts over many rows: each row a turn of its own, in the store, asked once and answered honestly.

`mapper` is an agent's way in, `wishes` what a person may want. `rows` and a `template` make `prompts`; the `ledger` is
the map in the store, the `board` what earlier runs left; `running` hands rows out as `gate` and `budget` let it, to
`hands` that ask (`asking`), here or `elsewhere`, and have a `writer`. `outcome` and `result` are what comes back.
"""

from hermes_kernel.mapping.mapper import Mapper
from hermes_kernel.mapping.outcome import Row, RowOutcome
from hermes_kernel.mapping.result import MapResult, Progress

__all__ = ["MapResult", "Mapper", "Progress", "Row", "RowOutcome"]
