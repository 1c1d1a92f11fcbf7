"""``python -m hermes_kernel`` is the command ``hermes-kernel``."""

import sys

from hermes_kernel.cli import main

sys.exit(main())
