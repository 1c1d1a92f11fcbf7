"""Whether a file is a notebook that can be run as a job."""

from __future__ import annotations

import json
from pathlib import Path

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.world.store.disk import content

MOST = 100 * 1024 * 1024  # bytes
FORMAT = 4  # of the notebook format: the only one that has been written since 2015


def checked_notebook(path: Path) -> Path:
    """`path`, which is a notebook.

    Raises:
        HermesError: there is no such file, it cannot be read, or it is no notebook.
    """
    shown = brief(str(path), 200)
    if path.suffix != ".ipynb":
        raise HermesError(f"{shown} is no notebook: its name must end in .ipynb.")
    try:
        plain = json.loads(content(path, MOST))
    except FileNotFoundError:
        raise HermesError(f"There is no notebook {shown}.") from None
    except OSError as error:
        raise HermesError(f"The notebook {shown} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError):
        raise HermesError(f"{shown} is no notebook: it is not JSON.") from None
    if not isinstance(plain, dict) or not isinstance(plain.get("cells"), list) or plain.get("nbformat") != FORMAT:
        raise HermesError(f"{shown} is no notebook of format {FORMAT}: open it in Jupyter and save it there.")
    return path
