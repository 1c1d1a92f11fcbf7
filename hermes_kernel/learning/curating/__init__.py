"""The skill curator: what an agent made and nobody uses gets out of the way, and can always be brought back.

`curator` says when a run is due. `running` is one: a `snapshot`, what is known (`knowing`) and planned by age, what a
model says (`judging`, by `reviewing`), and each step (`carrying`); `undoing` takes it back. Runs are on the `shelf`,
`telling` is what faces say of them.
"""

from hermes_kernel.learning.curating.curator import Curator, Status

__all__ = ["Curator", "Status"]
