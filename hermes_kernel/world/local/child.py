"""The local server's own process: loads one model, answers on loopback, says where, and ends with its last user.

Usage: ``python -m hermes_kernel.world.local.child MODEL WEIGHTS RECORD`` with the key in the environment (an argument
could be read by everybody on the machine) and its starter at the other end of stdin.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import ProxyHandler, build_opener

from hermes_kernel.world.local.lease import KEY_VARIABLE, Door, Running
from hermes_kernel.world.local.weights import MODELS, Weights

if TYPE_CHECKING:
    import xllamacpp

MOST_THREADS = 8
DIRECT = build_opener(ProxyHandler({}))  # a proxy has no business on this machine


def main(name: str, weights: Path, record: Path) -> None:
    """Serve `weights` as model `name` and write to `record` where, until nobody uses it any more. Never returns."""
    key = os.environ.pop(KEY_VARIABLE)

    def ended() -> None:
        if (written := Running.load(record)) and written.pid == os.getpid():
            record.unlink(missing_ok=True)
        os._exit(0)  # the engine's destructor can hang while a request runs

    door = Door(key, sys.stdin.buffer, ended)
    server = _serve(MODELS[name], weights, key)
    url = str(server.listening_address)
    while not _healthy(url):
        time.sleep(0.05)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a notebook's interrupt stops a turn, not the model
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the engine's own handler ends the server, not the process
    Running(os.getpid(), url, door.port, key).save(record)
    threading.Event().wait()  # `ended` is the way out


def _serve(weights: Weights, path: Path, key: str) -> xllamacpp.Server:
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    settings.model_alias = weights.name
    settings.hostname, settings.port, settings.api_keys = "127.0.0.1", 0, [key]
    settings.endpoint_slots = settings.webui = False  # nothing but the API
    settings.n_ctx, settings.n_parallel = weights.context, 1
    settings.cache_ram_mib = 512
    settings.fit_params = False  # fitting to a GPU's memory costs up to 16 s of start and finds none
    settings.use_jinja, settings.n_threads_http = True, 4
    settings.sampling.temp = 0.2
    threads = min(_cores(), MOST_THREADS)
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    if weights.template:
        settings.chat_template = (files("hermes_kernel.world.local") / weights.template).read_text("utf-8")
    return xllamacpp.Server(settings)


def _healthy(url: str) -> bool:
    try:
        with DIRECT.open(f"{url}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _cores() -> int:
    """Cores this process may use; containers give fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
