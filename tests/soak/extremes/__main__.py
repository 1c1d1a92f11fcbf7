"""``python -m tests.soak.extremes NAME …``: seconds, peak memory and size of the home; exit code 1 where one broke."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.soak.extremes import outputs

CASES = outputs.CASES
MB = 2**20
MOST = 1_200.0  # megabytes a process may take in which a hundred are handed about


def main(names: list[str]) -> int:
    """Each case in a process of its own."""
    if names[:1] == ["--inside"]:
        return inside(names[1], Path(names[2]))
    wanted = [case for case in CASES if any(case.startswith(name) for name in names)]
    if not wanted:
        print("\n".join(CASES))
        return 2
    went_well = [alone(case) for case in wanted]
    return int(not all(went_well))


def alone(case: str) -> bool:
    """Whether it went well, which is told in a line."""
    with tempfile.TemporaryDirectory(prefix="extreme-") as home:
        command = [sys.executable, "-m", "tests.soak.extremes", "--inside", case, home]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1200)
        lines = ran.stdout.splitlines() or ["{}"]
        if ran.returncode:
            print(f"BROKE  {case}\n{ran.stdout[-1500:]}{ran.stderr[-3000:]}", flush=True)
            return False
        told = json.loads(lines[-1])
        fine = told["peak"] <= MOST
        print(f"{'ok   ' if fine else 'LARGE'}  {case}: {told['seconds']:.1f} s, peak {told['peak']:.0f} MB "
              f"(before {told['before']:.0f}), home {told['home']:.1f} MB; {told['says']}", flush=True)  # fmt: skip
        return fine


def inside(case: str, home: Path) -> int:
    """Do it here, and tell what it took."""
    before, began = _peak(), time.monotonic()
    says = CASES[case](home)
    told = {
        "says": says[:300], "seconds": time.monotonic() - began, "before": before, "peak": _peak(),
        "home": sum(path.stat().st_size for path in home.rglob("*") if path.is_file()) / MB,
    }  # fmt: skip
    print(json.dumps(told), flush=True)
    os._exit(0)


def _peak() -> float:
    """Megabytes, as the machine has seen them; `getrusage` would have those of whoever started this."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
