"""``python -m hermes_kernel.testing`` prints where the sanitize file for nbval is:

``pytest --nbval notebooks/ --nbval-sanitize-with "$(python -m hermes_kernel.testing)"``
"""

from __future__ import annotations

import sys

from hermes_kernel.testing.plugin import SANITIZE

sys.stdout.write(f"{SANITIZE}\n")
