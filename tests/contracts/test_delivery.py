"""Reports as they arrive: real servers on loopback, files, a screen."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs

import apprise
import pytest

from hermes_kernel.scheduling.delivery import Messenger, Targets
from hermes_kernel.settings import Settings
from tests.contracts.delivering import keeps_the_contract, report
from tests.contracts.receivers import Post, Sent, Web, post, web
from tests.ports import own_port

TEXT = "# Prices\n\nThey **fell**. Ask a@b.com."
HOOK = "3ccdd113474722377935511fc85d3dd4"


@pytest.fixture
def server() -> Iterator[Web]:
    with web() as made:
        yield made


@pytest.fixture
def mail() -> Iterator[Post]:
    with post() as made:
        yield made


def messenger(home: Path, **told: str) -> Messenger:
    return Messenger(home, Targets(home, Settings(home=home, notify=told), environ={}), environ={})


def _json(name: str) -> Callable[[Sent], str]:
    return lambda sent: sent.json[name]


def _form(name: str) -> Callable[[Sent], str]:
    return lambda sent: parse_qs(sent.text)[name][0]


def _text(sent: Sent) -> str:
    return sent.text


KINDS = [
    ("json://me:hunter2-password@{host}/hook", "/hook", _json("title"), _json("message"), TEXT),
    ("form://{host}/in", "/in", _form("title"), _form("message"), TEXT),
    ("xml://{host}/in", "/in", _text, _text, TEXT),
    ("ntfy://{host}/prices", "/", _json("title"), _json("message"), TEXT),
    ("gotify://{host}/AbCdEfGh12345678", "/message", _json("title"), _json("message"), TEXT),
    ("hassio://{host}/AbCdEfGh12345678", "/api/services/persistent_notification/create", _json("title"),
     _json("message"), TEXT),
    ("bark://{host}/AbCdEfGh12345678", "/push", _json("title"), _json("body"), TEXT),
    (f"mmost://{{host}}/{HOOK}", f"/hooks/{HOOK}", _json("text"), _json("text"), TEXT),
    ("rocket://hook/AbCdEfGh12345678@{host}/#prices", "/hooks/hook/AbCdEfGh12345678", _json("text"), _json("text"), TEXT),
    ("matrix://AbCdEfGh12345678@{host}/?mode=matrix&v=3", "/api/v1/matrix/hook/AbCdEfGh12345678", _text, _text,
     "<strong>fell</strong>"),
    ("nctalk://me:hunter2-password@{host}/room", "/ocs/v2.php/apps/spreed/api/v1/chat/room", _json("message"),
     _json("message"), TEXT),
]  # fmt: skip
NAMES = [url.partition("://")[0] for url, *_ in KINDS]


@pytest.mark.parametrize(("url", "path", "title", "body", "words"), KINDS, ids=NAMES)
async def test_a_report_arrives_with_its_title_and_its_words(
    tmp_path: Path,
    server: Web,
    url: str,
    path: str,
    title: Callable[[Sent], str],
    body: Callable[[Sent], str],
    words: str,
):
    team = url.format(host=f"localhost:{server.port}")
    assert await messenger(tmp_path, team=team).deliver(report(TEXT), "team") == ""
    (sent,) = server.sent
    assert (sent.method, sent.path) == ("POST", path)
    assert "News:" in title(sent).replace("&nbsp;", " ")
    assert "done" in title(sent)
    assert words in body(sent)
    assert "hunter2" not in sent.text + sent.path
    assert "Apprise" not in sent.text


HOSTILE = (
    "@everyone @here <@U123> <@&42> <!channel> <!subteam^S1|x> <#C1> (@room) me@example.com <https://ok.example> "
    "![p](http://tracker/x.png) <img src=http://tracker/y> {{app_id}} :smile: \\n \x1b[31mred\x07 \u202eback \ud800 "
    "key sk-proj-abcdefghijklmnopqrstu0123"
)

HOSTED = [
    ("slack", "webhook_url", "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ",
     "/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"),
    ("discord", "notify_url", "https://discord.com/api/webhooks/123456789012345678/AbCdEfGh12345678",
     "/123456789012345678/AbCdEfGh12345678"),
    ("tgram", "notify_url", "tgram://123456789:AbCdEfGh12345678AbCdEfGh12345678AbC/7654321",
     "123456789:AbCdEfGh12345678AbCdEfGh12345678AbC/sendMessage"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "where", "url", "path"), HOSTED, ids=[kind for kind, *_ in HOSTED])
async def test_a_hosted_service_is_asked_as_it_documents_and_nobody_is_called(
    tmp_path: Path, server: Web, monkeypatch: pytest.MonkeyPatch, kind: str, where: str, url: str, path: str
):
    service = apprise.NotificationManager()[kind]
    monkeypatch.setattr(service, where, f"http://localhost:{server.port}/bot")
    server.reply = b"ok" if kind == "slack" else b'{"ok": true}'
    told = messenger(tmp_path, team=url)
    assert await told.deliver(report(f"{TEXT} {HOSTILE}"), "team") == ""
    sent = server.sent[-1]
    assert sent.path == f"/bot{path}"
    assert "fell" in sent.text
    assert "News" in sent.text
    said = json.dumps(sent.json, ensure_ascii=False)
    for call in ("@everyone", "@here", "<@", "<!", "<img"):
        assert call not in said
    assert "AbCdEfGh" not in said
    server.answer, server.reply = 403, b"no"
    assert await told.deliver(report(), "team") == "its server answered 403 Forbidden"


async def test_a_mail_has_the_title_as_its_subject_and_both_a_text_and_a_page(tmp_path: Path, mail: Post):
    address = f"mailto://me:hunter2-password@localhost:{mail.port}?to=you@example.org&from=me@example.com&mode=insecure"
    said = report("**Three** <img src=http://t/> [x](javascript:alert(1))\nSubject: other", name="News\r\nBcc: all@x")
    assert await messenger(tmp_path, team=address).deliver(said, "team") == ""
    (came,) = mail.mails
    assert came["Subject"] == "News Bcc: all@x: done"
    assert came["To"] == "you@example.org"
    assert came["Bcc"] is None
    page = came.get_body(("html",)).get_content()
    assert "<strong>Three</strong>" in page
    assert "<img" not in page
    assert 'href="javascript' not in page
    assert "Three" in came.get_body(("plain",)).get_content()
    assert "hunter2" not in came.as_string()


async def test_a_failure_says_why_and_where_the_notebook_is(tmp_path: Path, server: Web):
    team = f"json://localhost:{server.port}"
    failed = report("Half a table", "failed", "the model did not answer")
    assert await messenger(tmp_path, team=team).deliver(failed, "team") == ""
    (sent,) = server.sent
    assert sent.json["title"] == "News: failed"
    assert sent.json["type"] == "failure"
    assert sent.json["message"] == (
        "the model did not answer\n\nThe notebook: /runs/news/2025-12-01.ipynb\n\nHalf a table"
    )


async def test_the_mark_of_silence_is_not_part_of_what_a_failure_tells(tmp_path: Path, server: Web):
    team = f"json://localhost:{server.port}"
    await messenger(tmp_path, team=team).deliver(report("[SILENT]", "failed", "no room"), "team")
    assert "SILENT" not in server.sent[0].json["message"]


async def test_a_run_that_said_nothing_is_told_of_all_the_same(tmp_path: Path, server: Web):
    await messenger(tmp_path, team=f"json://localhost:{server.port}").deliver(report(""), "team")
    assert server.sent[0].json["message"] == "It said nothing."


async def test_a_long_report_ends_with_where_the_rest_is_and_code_that_was_cut_is_closed(tmp_path: Path, server: Web):
    text = "```python\n" + "x = 1\n" * 200_000
    assert await messenger(tmp_path, team=f"json://localhost:{server.port}").deliver(report(text), "team") == ""
    message = server.sent[0].json["message"]
    assert len(message) < 4_100
    assert message.endswith("\n```\n\n… the rest is in /runs/news/2025-12-01.ipynb")


async def test_what_a_service_takes_less_of_is_sent_in_parts(tmp_path: Path, server: Web):
    team = f"mmost://localhost:{server.port}/{HOOK}"
    assert await messenger(tmp_path, team=team).deliver(report("word " * 799), "team") == ""
    assert len(server.sent) == 2
    assert sum(sent.json["text"].count("word") for sent in server.sent) == 799


@pytest.mark.parametrize("kind", ["json://{}", "matrix://AbCdEfGh12345678@{}/?mode=matrix", "ntfy://{}/t"])
async def test_a_hostile_report_calls_nobody_loads_nothing_and_tells_no_secret(tmp_path: Path, server: Web, kind: str):
    team = kind.format(f"localhost:{server.port}")
    assert await messenger(tmp_path, team=team).deliver(report(HOSTILE, name="@everyone"), "team") == ""
    raw = server.sent[0].json
    told = " ".join(map(str, raw.values()))
    for call in ("@everyone", "@here", "<@", "<!", "@room", "<img", "![", "\x1b", "\x07", "\u202e", "sk-proj"):
        assert call not in told
    assert "me@example.com" in told
    assert "https://ok.example" in told
    assert "{{app_id}} :smile: \\n" in told
    assert "[redacted: API key]" in told


async def test_an_addresss_own_token_is_not_sent_along(tmp_path: Path, server: Web):
    team = f"json://localhost:{server.port}/hook/AbCdEfGh12345678"
    await messenger(tmp_path, team=team).deliver(report("it is AbCdEfGh12345678"), "team")
    assert "AbCdEfGh12345678" not in server.sent[0].text


async def test_a_test_message_says_that_it_is_one(tmp_path: Path, server: Web):
    team = messenger(tmp_path, team=f"json://localhost:{server.port}")
    assert await team.test("team") == ""
    assert server.sent[0].json["title"] == "Hermes Kernel: test"
    assert server.sent[0].json["message"] == "A test: reports of scheduled runs will come here."
    assert (
        "There is no target 'other'; a report can go to: none, notebook, desktop, file:PATH, team."
        in await team.test("other")
    )
    assert await team.test("none") == "none tells no one: there is nothing to test"


async def test_it_keeps_what_every_deliverer_keeps(tmp_path: Path, server: Web):
    with own_port() as port:
        told = messenger(tmp_path, up=f"json://localhost:{server.port}", down=f"json://localhost:{port}")
        await keeps_the_contract(told, "up", "down")
    assert len(server.sent) == 2


# --- files


async def test_a_report_becomes_a_file_below_the_jobs_folder_and_replaces_the_last(tmp_path: Path):
    home, work = tmp_path / "home", tmp_path / "work"
    told = messenger(home)
    for text in ("First.", "Second <script>x</script>."):
        made = report(text, name="../News of the day")
        made = type(made)(**{**{f: getattr(made, f) for f in made.__slots__}, "folder": work})
        assert await told.deliver(made, "file:reports/{job}/{date} {time}.md") == ""
    (file,) = work.rglob("*.md")
    assert file.relative_to(work) == Path("reports/News-of-the-day/2025-12-01 09-00.md")
    assert (
        file.read_text()
        == "# ../News of the day: done\n\n*Mon 1 Dec 2025 09:00 CET*\n\nSecond &lt;script>x&lt;/script>.\n"
    )
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == [file.name]


async def test_without_a_folder_a_file_is_beside_the_runs_and_a_whole_report_is_in_it(tmp_path: Path):
    assert await messenger(tmp_path).deliver(report("word " * 20_000), "file:{run}.md") == ""
    assert (tmp_path / "runs/0123abcd-20251201T080000Z.md").read_text().count("word") == 20_000


async def test_a_link_the_person_made_is_followed_and_stays(tmp_path: Path):
    (tmp_path / "latest.md").symlink_to(tmp_path / "real.md")
    assert await messenger(tmp_path).deliver(report(), f"file:{tmp_path}/latest.md") == ""
    assert (tmp_path / "latest.md").is_symlink()
    assert "All is" in (tmp_path / "real.md").read_text()


@pytest.mark.parametrize("wanted", ["latest.md", "folder/.bashrc", "../.bashrc"])
async def test_a_link_in_the_jobs_folder_leads_nowhere_else(tmp_path: Path, wanted: str):
    (tmp_path / ".bashrc").write_text("mine")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/latest.md").symlink_to(tmp_path / ".bashrc")
    (tmp_path / "runs/folder").symlink_to(tmp_path)
    said = await messenger(tmp_path).deliver(report(), f"file:{wanted}")
    assert said == f"{wanted} leads out of the job's folder, or into the agent's own: name the file from / or ~ on"
    assert (tmp_path / ".bashrc").read_text() == "mine"


@pytest.mark.parametrize("wanted", ["own/memories/MEMORY.md", "own/skills/x/SKILL.md", "link/memories/MEMORY.md"])
async def test_no_report_becomes_what_the_agent_knows_where_its_folder_is_below_the_jobs(tmp_path: Path, wanted: str):
    (tmp_path / "own").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "own")
    works_there = replace(report(), folder=tmp_path)
    said = await messenger(tmp_path / "own").deliver(works_there, f"file:{wanted}")
    assert "into the agent's own" in said
    assert list((tmp_path / "own").rglob("*.md")) == []
    assert await messenger(tmp_path / "own").deliver(works_there, "file:news.md") == ""


@pytest.mark.parametrize("wanted", ["/dev/null", "{tmp}", "{tmp}/file/x.md", "a\0b", "~nobody-of-that-name/x.md"])
async def test_a_file_that_cannot_be_written_is_said_in_a_line(tmp_path: Path, wanted: str):
    (tmp_path / "file").write_text("mine")
    said = await messenger(tmp_path).deliver(report(), "file:" + wanted.replace("{tmp}", str(tmp_path)))
    assert said
    assert "\n" not in said
    assert (tmp_path / "file").read_text() == "mine"
    assert Path("/dev/null").is_char_device()


# --- the screen


async def test_a_screen_is_told_by_notify_send_in_a_few_words_without_markup(tmp_path: Path):
    program = tmp_path / "bin/notify-send"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/shown\n')
    program.chmod(0o700)
    told = Messenger(tmp_path, environ={"PATH": f"{program.parent}:/usr/bin:/bin"})
    assert await told.deliver(report("--help <b>x</b> " + "y" * 1_000, name="-News"), "desktop") == ""
    lines = (tmp_path / "shown").read_text().splitlines()
    assert lines[:3] == ["--app-name=Hermes Kernel", "--", "-News: done"]
    assert lines[3].startswith("--help &lt;b&gt;x")
    assert len(lines[3]) < 400


async def test_without_a_screen_it_is_said_what_is_missing(tmp_path: Path):
    told = Messenger(tmp_path, environ={"PATH": str(tmp_path)})
    assert "install notify-send" in await told.deliver(report(), "desktop")
