"""Where reports may go: names with addresses, from three places, that only their owner ever sees."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.delivery import Targets
from hermes_kernel.settings import Settings

URL = "json://localhost:8080/hook/AbCdEfGh12345678"


def targets(home: Path, environ: dict[str, str] | None = None, **told: str) -> Targets:
    return Targets(home, Settings(home=home, notify=told), environ=environ or {})


def test_the_environment_beats_the_settings_which_beat_what_was_saved(tmp_path: Path):
    targets(tmp_path).save("a", "json://saved.example.com")
    targets(tmp_path).save("b", "json://saved.example.com")
    targets(tmp_path).save("c", "json://saved.example.com")
    both = targets(tmp_path, {"HERMES_NOTIFY_A": "json://env.example.com", "HERMES_NOTIFY_MY_TEAM": URL,
                              "HERMES_NOTIFY_EMPTY": " "}, a="json://toml.example.com", b="json://toml.example.com")  # fmt: skip
    assert both.names() == ("a", "b", "c", "my-team")
    assert both.shown() == (
        ("a", "json://…example.com/…", "HERMES_NOTIFY_A"),
        ("b", "json://…example.com/…", "kernel.toml"),
        ("c", "json://…example.com/…", str(tmp_path / "schedule/targets.json")),
        ("my-team", "json://localhost/…", "HERMES_NOTIFY_MY_TEAM"),
    )
    assert both.address("My_Team") == URL
    assert both.address("nobody") is None
    assert "AbCdEfGh12345678" in both.secrets()


def test_without_settings_those_in_force_are_read_whenever_it_is_asked(tmp_path: Path):
    known = Targets(tmp_path, environ={})
    assert known.names() == ()
    (tmp_path / "kernel.toml").write_text(f'[notify]\nteam = "{URL}"\n')
    assert known.names() == ("team",)
    (tmp_path / "kernel.toml").write_text("[notify]\nteam = 3\n")
    with pytest.raises(HermesError, match="notify cannot be that value"):
        known.names()
    known = Targets(tmp_path, environ={"HERMES_NOTIFY_A": URL})
    assert "AbCdEfGh12345678" in known.secrets(), "what is known is kept secret all the same"


def test_what_is_saved_only_its_owner_can_read_and_it_lasts(tmp_path: Path):
    assert targets(tmp_path).save(" My_Team ", URL) == "my-team"
    assert targets(tmp_path).names() == ("my-team",)
    file = tmp_path / "schedule/targets.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert not list(file.parent.glob("*.new"))
    targets(tmp_path).save("my-team", "json://other.example.com")
    assert targets(tmp_path).address("my-team") == "json://other.example.com"
    targets(tmp_path).remove("MY_TEAM")
    assert targets(tmp_path).names() == ()


def test_what_is_saved_is_a_secret_of_whoever_knows_the_settings(tmp_path: Path):
    settings = Settings(home=tmp_path)
    assert "AbCdEfGh12345678" not in settings.secrets
    targets(tmp_path).save("team", URL)
    assert "AbCdEfGh12345678" in settings.secrets
    targets(tmp_path).save("team", "json://localhost/hook/IjKlMnOp12345678")
    assert "IjKlMnOp12345678" in settings.secrets
    (tmp_path / "schedule/targets.json").write_text("{nothing")
    assert settings.secrets == Settings(home=tmp_path / "none").secrets


@pytest.mark.parametrize(
    "name",
    ["", " ", "none", "Notebook", "desktop", "file:x", "a b", "../x", "-a", "a-", "ä", "x" * 41, "a\n", "a/b", URL],
)
def test_a_bad_name_is_refused_with_what_a_name_is(tmp_path: Path, name: str):
    if name == "a\n":  # a line's end is no part of what was meant
        assert targets(tmp_path).save(name, URL) == "a"
        return
    with pytest.raises(HermesError, match="letters, digits and dashes") as refused:
        targets(tmp_path).save(name, URL)
    assert "AbCdEfGh12345678" not in str(refused.value)
    assert targets(tmp_path).names() == ()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "no address"),
        ("hunter2secret", "no address"),
        ("telegarm://hunter2secret", "no kind telegarm://"),
        ("jsn://hunter2secret", "Close to it: json://"),
        ("tgram://hunter2secret", "This tgram:// address lacks something"),
        ("https://example.com/hunter2secret", "A hook of your own is written jsons://HOST/PATH"),
        ("json://h/hunter2secret\nx", "one line"),
        ("file:///etc/hunter2secret", "no kind file://"),
    ],
)
def test_a_bad_address_is_refused_without_repeating_it(tmp_path: Path, url: str, words: str):
    with pytest.raises(HermesError) as refused:
        targets(tmp_path).save("team", url)
    assert words in str(refused.value)
    assert "hunter2" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert targets(tmp_path).names() == ()


def test_what_is_set_elsewhere_is_changed_there(tmp_path: Path):
    known = targets(tmp_path, {"HERMES_NOTIFY_B": URL}, a=URL)
    for name, where in (("a", "kernel.toml"), ("b", "HERMES_NOTIFY_B")):
        with pytest.raises(HermesError, match=f"{name} is set in {where}: change it there"):
            known.save(name, URL)
        with pytest.raises(HermesError, match=f"{name} is set in {where}"):
            known.remove(name)
    with pytest.raises(
        HermesError, match="no target 'c'; a report can go to: none, notebook, desktop, file:PATH, a, b"
    ):
        known.remove("c")


def test_an_address_gets_the_name_of_its_kind_and_the_same_one_again(tmp_path: Path):
    known = targets(tmp_path)
    first = known.name_of("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ")
    assert first == "slack-1"
    assert known.name_of(URL) == "json-1"
    assert known.name_of(f" {URL} ") == "json-1"
    assert known.name_of(URL + "/other") == "json-2"
    assert targets(tmp_path, mine=f"{URL}/third").name_of(f"{URL}/third") == "mine"
    assert targets(tmp_path).names() == ("json-1", "json-2", "slack-1")


def test_a_person_gives_names_and_addresses_and_a_model_names_alone(tmp_path: Path):
    known = targets(tmp_path, team="json://h.example.com")
    assert known.named(["none", "desktop", "TEAM", URL, "file:~/x.txt"]) == (
        "none", "desktop", "team", "json-1", "file:~/x.txt",
    )  # fmt: skip
    assert known.named(["team", "json-1", "file:reports/{date}.md"], by="model")[1] == "json-1"
    with pytest.raises(HermesError, match="An address is a person's to give") as refused:
        known.named([URL + "/new"], by="model")
    assert "AbCdEfGh" not in str(refused.value)
    with pytest.raises(HermesError, match="no target 'taem'"):
        known.named([URL + "/new", "taem"])
    assert known.names() == ("json-1", "team"), "nothing is kept of a wish that is refused"


@pytest.mark.parametrize("path", ["/etc/x.md", "~/x.md", ".git/hooks/pre-commit", "x.py"])
def test_a_model_names_no_file_but_words_below_the_jobs_folder(tmp_path: Path, path: str):
    targets(tmp_path).check([f"file:{path}"])
    with pytest.raises(HermesError, match="not for a model to write"):
        targets(tmp_path).check([f"file:{path}"], by="model")


@pytest.mark.parametrize("path", ["../x.md", "a/../../x.md", ".."])
def test_a_file_below_the_jobs_folder_is_below_it(tmp_path: Path, path: str):
    for by in ("person", "model"):
        with pytest.raises(HermesError, match="leads out of the job's folder"):
            targets(tmp_path).check([f"file:{path}"], by=by)


@pytest.mark.parametrize("path", ["", " ", "a\0b", "folder/"])
def test_a_file_without_a_name_is_refused(tmp_path: Path, path: str):
    with pytest.raises(HermesError, match="takes the path of a file"):
        targets(tmp_path).check([f"file:{path}"])


def test_a_name_that_is_none_is_refused_with_those_there_are(tmp_path: Path):
    with pytest.raises(HermesError) as refused:
        targets(tmp_path, team=URL).check(["team", "taem"])
    assert str(refused.value) == (
        "There is no target 'taem'; a report can go to: none, notebook, desktop, file:PATH, team. "
        "`hermes-kernel schedule target add NAME KIND://…` makes one."
    )


def test_many_at_once_lose_nothing(tmp_path: Path):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: targets(tmp_path).save(f"t{n}", f"{URL}/{n}"), range(24)))
    assert len(targets(tmp_path).names()) == 24


@pytest.mark.parametrize("content", ["{", "[]", '"json://hunter2"', "\0"])
def test_a_file_that_was_spoilt_is_said_to_be_and_is_not_overwritten(tmp_path: Path, content: str):
    file = tmp_path / "schedule/targets.json"
    file.parent.mkdir()
    file.write_text(content)
    assert targets(tmp_path, team=URL).names() == ("team",)
    with pytest.raises(HermesError, match="mend it, or move it away"):
        targets(tmp_path).save("new", URL)
    assert file.read_text() == content


def test_what_is_not_a_line_in_the_file_costs_only_itself(tmp_path: Path):
    file = tmp_path / "schedule/targets.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"a": 7, "b": URL, "../c": URL}))
    assert targets(tmp_path).names() == ("b",)


def test_a_disk_that_takes_nothing_is_said(tmp_path: Path):
    (tmp_path / "schedule").write_text("a file")
    with pytest.raises(HermesError, match="The target was not kept"):
        targets(tmp_path).save("a", URL)


def test_looking_at_targets_does_not_load_what_sends():
    code = (
        "import sys\nfrom pathlib import Path\nfrom hermes_kernel.scheduling.delivery import Messenger, Targets\n"
        "targets = Targets(Path('/nonexistent'), environ={'HERMES_NOTIFY_A': 'json://h'})\n"
        "targets.check(['a']); assert targets.shown()\nassert 'apprise' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
