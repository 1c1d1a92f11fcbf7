"""``hermes-kernel install``: the kernelspec, with this very interpreter in it, where another Jupyter finds it.

`pip install` has already done this for the environment it installed into.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from hermes_kernel.cli.trouble import Failure, Misuse


def install(options: argparse.Namespace) -> int:
    """Install the kernelspec and say where.

    Raises:
        Misuse: the name is none that Jupyter takes.
        Failure: the place cannot be written.
    """
    from jupyter_client.kernelspec import KernelSpecManager

    prefix = sys.prefix if options.sys_prefix else options.prefix
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder, "hermes")
        _write(spec, options.name)
        try:
            place = KernelSpecManager().install_kernel_spec(
                str(spec), kernel_name=options.name, user=not prefix, prefix=prefix
            )
        except ValueError as error:
            raise Misuse(f"--name: {error}") from None
        except OSError as error:
            where = prefix or "your own Jupyter folder"
            raise Failure(f"{where} cannot be written ({error.strerror}). Try --user, or --prefix P.") from None
    print(f"The kernel {options.name} is installed in {place}")
    return 0


def _write(spec: Path, name: str) -> None:
    with as_file(files("hermes_kernel") / "kernelspec") as shipped:
        shutil.copytree(shipped, spec)
    file = spec / "kernel.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    content["argv"][0] = sys.executable
    if name != "hermes":
        content["display_name"] = f"Hermes ({name})"
    file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
