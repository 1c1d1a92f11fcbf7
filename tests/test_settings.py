"""What can be set, where, and what happens to what cannot."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.given import near_misses
from hermes_kernel.ranges import Address, near
from hermes_kernel.settings import HOW, LOCAL, OPENAI, RANGES, NoEndpoint, Settings, SettingsError

# The contract: names and defaults that other people and programs rely on.
CONTRACT = {
    "base_url": "",
    "api_key": "",
    "store_url": "",
    "model": "",
    "fallback_models": (),
    "aux_model": "",
    "max_iterations": 90,
    "max_retries": 3,
    "retry_base_seconds": 5,
    "retry_max_seconds": 120,
    "stale_seconds": 90,
    "first_byte_seconds": 180,
    "queued_seconds": 600,
    "connect_seconds": 30,
    "turn_seconds": 0,
    "max_continuations": 3,
    "max_tokens": 0,
    "model_max_tokens": 0,
    "context_window": 0,
    "requests_per_minute": 0,
    "tool_seconds": 300,
    "tool_workers": 8,
    "tool_result_chars": 50_000,
    "compress_at": 0.5,
    "compress_hard_at": 0.85,
    "protect_first": 2,
    "protect_last": 20,
    "delegate_depth": 1,
    "delegate_workers": 8,
    "delegate_seconds": 1800,
    "delegate_kernel": "python3",
    "map_workers": 8,
    "nudge_every_turns": 10,
    "learning": True,
    "nudge_seconds": 600,
    "memory_writes": "on",
    "skill_writes": "on",
    "memory_chars": 2200,
    "user_chars": 1375,
    "skill_trigger_calls": 5,
    "curator_days": 7,
    "curator_idle_hours": 2,
    "stale_days": 30,
    "archive_days": 90,
    "approvals": "ask",
    "answer_seconds": 3600,
    "cells": True,
    "mcp_servers": {},
    "notify": {},
    "schedule_writes": "ask",
    "schedule_watch": True,
    "schedule_workers": 2,
    "vision": "auto",
    "plain": False,
    "record": "",
    "replay": "",
    "replay_gaps": False,
    "replay_tools": False,
    "spec": False,
    "refunds": 0,
}
KEY = "sk-not-to-be-seen-0123456789"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def write(home: Path, text: str) -> Path:
    home.mkdir(exist_ok=True)
    (home / "kernel.toml").write_text(text, encoding="utf-8")
    return home / "kernel.toml"


def load(home: Path, environ: dict[str, str] | None = None, /, **overrides: object) -> Settings:
    return Settings.load(environ={"HERMES_HOME": str(home), **(environ or {})}, **overrides)


def test_every_name_and_default_of_the_contract_is_there(home: Path):
    settings = load(home)
    assert {name: getattr(settings, name) for name in RANGES if name != "home"} == CONTRACT
    assert settings.home == home


def test_home_is_the_original_agents_when_nothing_else_is_said():
    assert Settings.load(environ={}).home == Path("~/.hermes").expanduser()


def test_an_argument_beats_the_environment_beats_the_file_beats_the_default(home: Path):
    write(home, "max_retries = 7\nmax_continuations = 7\nstale_seconds = 7\n")
    environ = {"HERMES_MAX_RETRIES": "8", "HERMES_MAX_CONTINUATIONS": "8"}
    settings = load(home, environ, max_retries=9)
    assert (settings.max_retries, settings.max_continuations, settings.stale_seconds) == (9, 8, 7)
    assert settings.max_iterations == 90


def test_each_setting_says_where_it_was_set(home: Path):
    file = write(home, "max_retries = 7\n")
    settings = load(home, {"HERMES_MODEL": "m"}, max_tokens=5)
    sources = {row.name: row.source for row in settings.shown()}
    assert sources["max_retries"] == str(file)
    assert sources["model"] == "HERMES_MODEL"
    assert sources["max_tokens"] == "argument"
    assert sources["max_iterations"] == "default"
    assert {row.name: row.source for row in Settings(max_tokens=5).shown()}["max_tokens"] == "argument"


def test_what_openai_reads_is_honoured_below_everything_of_ours(home: Path):
    openai = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://gate.example/v1"}
    assert load(home, openai).base_url == "http://gate.example/v1"
    assert load(home, openai).api_key == KEY
    write(home, 'base_url = "http://file.example/v1"\n')
    assert load(home, openai).base_url == "http://file.example/v1"
    assert load(home, {**openai, "HERMES_BASE_URL": "http://ours.example/v1"}).base_url == "http://ours.example/v1"


def test_openais_key_goes_to_no_other_endpoint(home: Path):
    openai = {"OPENAI_API_KEY": KEY}
    assert load(home, openai | {"HERMES_BASE_URL": "http://ours.example/v1"}).api_key == ""
    assert load(home, openai, base_url="http://ours.example/v1").api_key == ""
    assert load(home, openai).with_(base_url="http://ours.example/v1").api_key == ""
    assert load(home, openai | {"HERMES_BASE_URL": OPENAI}).api_key == KEY
    assert (
        load(home, openai | {"HERMES_API_KEY": "mine-1234"}, base_url="http://ours.example/v1").api_key == "mine-1234"
    )


def test_none_is_no_override_and_an_empty_variable_is_not_set(home: Path):
    assert load(home, {"HERMES_MAX_RETRIES": "", "HERMES_MODEL": "m"}, model=None).model == "m"


@pytest.mark.parametrize(
    ("written", "name", "value"),
    [
        ("HERMES_FALLBACK_MODELS=a, b,,c", "fallback_models", ("a", "b", "c")),
        ("HERMES_CELLS=off", "cells", False),
        ("HERMES_PLAIN=Yes", "plain", True),
        ("HERMES_VISION=ON", "vision", "on"),
        ("HERMES_STALE_SECONDS=2.5", "stale_seconds", 2.5),
        ("HERMES_MAX_ITERATIONS= 12 ", "max_iterations", 12),
        ("HERMES_BASE_URL=http://127.0.0.1:11434/v1/", "base_url", "http://127.0.0.1:11434/v1"),
    ],
)
def test_the_environment_is_text_and_is_read_as_what_it_means(home: Path, written: str, name: str, value: object):
    key, _, text = written.partition("=")
    assert getattr(load(home, {key: text}), name) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_iterations", 0),
        ("max_iterations", 1.5),
        ("max_iterations", True),
        ("max_iterations", "many"),
        ("stale_seconds", 0),
        ("stale_seconds", float("nan")),
        ("stale_seconds", float("inf")),
        ("turn_seconds", -1),
        ("compress_at", 1.1),
        ("approvals", "sometimes"),
        ("cells", "perhaps"),
        ("base_url", "localhost:11434"),
        ("base_url", "ftp://models.example"),
        ("base_url", "http://models example/v1"),
        ("model", "two\nlines"),
        ("fallback_models", 3),
        ("home", ""),
        ("home", "a\0b"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name_with_what_is_allowed(home: Path, name: str, value: object):
    for attempt in (
        lambda: load(home, **{name: value}),
        lambda: Settings(**{name: value}),
        lambda: Settings().with_(**{name: value}),
    ):
        with pytest.raises(SettingsError) as refused:
            attempt()
        assert name in str(refused.value)
        assert RANGES[name].allowed in str(refused.value)
        assert len(str(refused.value).splitlines()) == 1


def test_a_refusal_says_which_variable_or_file_to_change(home: Path):
    with pytest.raises(SettingsError, match=r"max_retries cannot be 'x' \(HERMES_MAX_RETRIES\)"):
        load(home, {"HERMES_MAX_RETRIES": "x"})
    file = write(home, "max_retries = 101\n")
    with pytest.raises(SettingsError, match="from 0 to 100") as refused:
        load(home)
    assert str(file) in str(refused.value)


def test_an_unknown_name_is_refused_with_the_likely_one(home: Path):
    with pytest.raises(SettingsError, match="no setting max_iteration. Did you mean max_iterations"):
        load(home, max_iteration=3)
    file = write(home, "[model]\nname = 1\n[zzz]\n")
    with pytest.raises(SettingsError):
        load(home)
    file.write_text("qqq = 1\n")
    with pytest.raises(SettingsError, match="no setting qqq") as refused:
        load(home)
    assert str(file) in str(refused.value)


def test_variables_of_the_original_agent_do_not_trouble_us_but_a_slip_is_noticed(home: Path):
    environ = {"HERMES_YOLO_MODE": "1", "HERMES_STALE_SECOND": "3", "HERMES_MODEL": "m"}
    assert load(home, environ).model == "m"
    assert near_misses(environ, RANGES) == {"HERMES_STALE_SECOND": "HERMES_STALE_SECONDS"}


def test_targets_are_lines_by_name_and_nothing_shows_their_addresses(home: Path):
    written = "tgram://123456789:abcdefghijklmnop/7654321"
    write(home, f'[notify]\nteam = "{written}"\n')
    settings = load(home)
    assert settings.notify == {"team": written}
    (row,) = [row for row in settings.shown() if row.name == "notify"]
    assert row.value == "team"
    assert "abcdefghijklmnop" not in repr(settings)
    assert {written, "abcdefghijklmnop"} <= settings.secrets
    assert load(home, {"HERMES_NOTIFY": '{"b": "json://h"}'}).notify == {"b": "json://h"}
    for wrong in ("[]", "hunter2", {"a": 7}, {"a": {"url": "hunter2"}}, {"a": "hunter2\nx"}, 7):
        with pytest.raises(SettingsError) as refused:
            Settings(notify=wrong)
        assert "hunter2" not in str(refused.value)


def test_a_variable_with_a_targets_address_is_no_slip_and_its_tokens_are_secrets(home: Path, monkeypatch):
    monkeypatch.setenv("HERMES_NOTIFY_ME", "json://h/hook/abcdefghijklm007?key=qrstuvwxyz%20123")
    assert near_misses(os.environ, RANGES) == {}
    assert {"abcdefghijklm007", "qrstuvwxyz 123"} <= load(home).secrets


def test_the_name_of_a_channel_or_a_server_is_no_secret():
    secrets = Address("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#engineering-announcements").secrets
    assert "TIiajkdnlazkcOXrIdevi7FQ" in secrets
    assert not {"engineering-announcements", "announcements"} & secrets
    assert "mail.example.com" not in Address("mailto://me:hunter2@mail.example.com").secrets
    assert "hunter2" in Address("mailto://me:hunter2@mail.example.com").secrets


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("tgram://123456789:abcdefghijklmnop/7654321", "tgram://…"),
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", "slack://…"),
        ("mailto://me:hunter2@example.com?to=you@example.org", "mailto://…example.com/…"),
        ("jsons://hooks.example.com:8443/secret/path?key=hunter2", "jsons://…example.com/…"),
        ("JSON://me@localhost:80/hunter2", "json://localhost/…"),
        ("json://10.0.0.7/hunter2", "json://10.0.0.7/…"),
        ("x://eyJhbGci.eyJzdWIi.SflKxwRJ_5ssw", "x://…"),
    ],
)
def test_of_an_address_is_shown_its_kind_and_at_most_whose_server_it_is(written: str, shown: str):
    assert Address(written).shown == shown


def test_a_file_that_is_not_toml_is_named_and_so_is_the_line(home: Path):
    file = write(home, "max_retries = \n")
    with pytest.raises(SettingsError, match="line 1") as refused:
        load(home)
    assert str(file) in str(refused.value)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match="not valid TOML"):
        load(home)
    file.unlink()
    file.mkdir()
    with pytest.raises(SettingsError, match="cannot be read"):
        load(home)
    file.rmdir()
    os.mkfifo(file)
    with pytest.raises(SettingsError, match="it is a pipe"):
        load(home)


def test_home_cannot_move_itself(home: Path):
    write(home, 'home = "/elsewhere"\n')
    with pytest.raises(SettingsError, match="HERMES_HOME"):
        load(home)


def test_limits_that_contradict_each_other_are_refused():
    with pytest.raises(SettingsError, match="compress_at must not be above compress_hard_at"):
        Settings(compress_at=0.9)
    with pytest.raises(SettingsError, match="retry_base_seconds"):
        Settings(retry_base_seconds=200)


def test_a_key_is_never_shown(home: Path):
    settings = load(home, {"HERMES_API_KEY": KEY}, fallback_models=["x"])
    shown = [repr(settings), str(settings), str(settings.shown()), repr(dataclasses.asdict(settings)), f"{settings!r}"]
    assert all(KEY not in text for text in shown)
    assert settings.api_key == KEY
    assert {row.name: row.value for row in settings.shown()}["api_key"] == "set"
    for wrong in ({"HERMES_API_KEY": f"{KEY}\nx"}, {"HERMES_BASE_URL": f"http://me:{KEY}@models.example/v1"}):
        with pytest.raises(SettingsError) as refused:
            load(home, wrong)
        assert KEY not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("", ""),
        (f"postgresql://me:{KEY}@db.example:5432/hermes", "postgresql://me@db.example:5432/hermes"),
        (f"postgres://me@one:1,two:2/hermes?password={KEY}&sslmode=require", "postgres://me@one:1,two:2/hermes"),
        ("postgresql:///hermes", "postgresql:///hermes"),
    ],
)
def test_a_shared_store_is_shown_without_its_password(home: Path, url: str, shown: str):
    settings = load(home, {"HERMES_STORE_URL": url})
    assert settings.store_url == url
    assert {row.name: row.value for row in settings.shown()}["store_url"] == shown
    assert KEY not in f"{settings!r} {settings.shown()} {settings.with_(model='x').shown()}"
    assert (KEY in settings.secrets) is (KEY in url)


def test_a_password_with_signs_in_it_is_redacted_as_it_is_written_and_as_it_is_meant():
    settings = Settings(store_url="postgresql://me:correct%20horse%40staple@db.example/hermes")
    assert settings.secrets == {"correct%20horse%40staple", "correct horse@staple"}


@pytest.mark.parametrize("url", ["mysql://me:secret@db", "postgresql://", "db.example", "postgresql://a b", 5, "x\ny"])
def test_a_shared_store_that_is_none_is_refused_without_being_shown(url: object):
    with pytest.raises(SettingsError, match=r"^store_url cannot be that value: it must be a postgresql:// address\.$"):
        Settings(store_url=url)


@pytest.mark.parametrize(
    ("url", "seconds"),
    [
        ("http://127.0.0.1:1234/v1", 900),
        ("http://localhost:1234/v1", 900),
        ("http://[::1]:1234/v1", 900),
        ("http://192.168.1.9/v1", 900),
        ("http://10.0.0.2/v1", 900),
        ("http://box.local/v1", 900),
        ("local:", 900),
        ("https://api.openai.com/v1", 180),
        ("https://8.8.8.8/v1", 180),
        ("", 180),
    ],
)
def test_a_near_endpoint_may_take_longer_to_begin(url: str, seconds: float):
    assert Settings(base_url=url).first_byte_seconds == seconds
    assert near(url) is (seconds == 900)
    assert Settings(base_url=url, first_byte_seconds=7).first_byte_seconds == 7
    assert Settings().with_(base_url=url).first_byte_seconds == seconds
    assert Settings().with_(first_byte_seconds=7).with_(base_url=url).first_byte_seconds == 7


def test_with_nothing_configured_the_local_model_is_asked_where_there_is_one(home: Path):
    settled = load(home).settled(lambda: True)
    assert (settled.base_url, settled.model, settled.first_byte_seconds) == (LOCAL, "qwen", 900)
    assert load(home, base_url=LOCAL, model="smol").settled(lambda: False).model == "smol"


def test_with_nothing_at_all_three_lines_say_how_to_get_a_model(home: Path):
    with pytest.raises(NoEndpoint) as missing:
        load(home).settled(lambda: False)
    assert str(missing.value) == HOW
    assert len(HOW.splitlines()) == 3
    assert all(name in HOW for name in ("HERMES_BASE_URL", "HERMES_MODEL", "HERMES_API_KEY", "hermes-kernel[local]"))


def test_a_key_alone_means_openai_and_a_model_has_to_be_named(home: Path):
    settings = load(home, {"OPENAI_API_KEY": KEY})
    with pytest.raises(NoEndpoint, match="HERMES_MODEL") as missing:
        settings.settled(lambda: True)
    assert KEY not in str(missing.value)
    assert settings.with_(model="m").settled(lambda: True).base_url == OPENAI


@given(
    st.sampled_from([name for name in RANGES if name != "home"]),
    st.text() | st.integers() | st.floats() | st.booleans() | st.none() | st.lists(st.text()),
)
def test_whatever_is_written_is_either_taken_or_refused_by_name(name: str, value: object):
    try:
        taken = Settings.load(environ={}, **{name: value})
    except SettingsError as refused:
        assert name in str(refused)
        assert len(str(refused).splitlines()) == 1
    else:
        assert Settings(**{row.name: getattr(taken, row.name) for row in taken.shown()}) == taken


@given(
    st.dictionaries(
        st.sampled_from(sorted(RANGES)).map(lambda n: f"HERMES_{n.upper()}"),
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    )
)
def test_no_environment_can_do_more_than_be_refused(environ: dict[str, str]):
    try:
        settings = Settings.load(environ={**environ, "HERMES_HOME": "/nowhere"})
    except SettingsError:
        return
    assert settings.home == Path("/nowhere")


def test_reading_the_settings_writes_nothing(tmp_path: Path):
    code = "from hermes_kernel.settings import Settings; import json; print(json.dumps([r.name for r in Settings.load().shown()]))"
    environ = {**os.environ, "HOME": str(tmp_path), "HERMES_HOME": str(tmp_path / "h")}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == list(RANGES)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_named_by_text_or_by_a_path(home: Path):
    assert Settings.load(home=home, record=home / "one.jsonl").record == str(home / "one.jsonl")
    with pytest.raises(SettingsError, match="record cannot be 7: it must be the name of a file"):
        Settings.load(home=home, record=7)
