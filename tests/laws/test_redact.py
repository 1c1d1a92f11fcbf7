"""Secrets go, everything else stays: laws over any text, and a table of what is one and what only looks like it."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import random
import string
import time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hermes_kernel.core.redact import RULES, redact, redact_plain

ALNUM = string.ascii_letters + string.digits


def made(length: int, alphabet: str = ALNUM, seed: int = 7) -> str:
    """A key's body with a digit, and letters of both cases: the same in every run, and in no scanner's list."""
    dice = random.Random(seed)
    return "a1B" + "".join(dice.choice(alphabet) for _ in range(length - 3))


HEX = hashlib.sha384(b"a key").hexdigest()[:48]
JWT = f"eyJ{made(20)}.eyJ{made(40)}.{made(43)}"
PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "\n".join(made(64, seed=n) for n in range(4))
    + "\n-----END RSA PRIVATE KEY-----"
)

SECRETS = [
    ("API key", f"sk-{made(48)}"),
    ("API key", f"sk-proj-{made(40)}_{made(20)}-{made(30)}"),
    ("API key", f"sk-ant-api03-{made(80)}"),
    ("API key", f"sk-or-v1-{hashlib.sha256(b'x').hexdigest()}"),
    ("API key", f"gsk_{made(52)}"),
    ("API key", f"sk_live_{made(24)}"),
    ("API key", f"xai-{made(80)}"),
    ("Google key", f"AIza{made(35)}"),
    ("Google token", f"ya29.{made(60)}"),
    ("Google secret", f"GOCSPX-{made(28)}"),
    ("GitHub token", f"ghp_{made(36)}"),
    ("GitHub token", f"gho_{made(36)}"),
    ("GitHub token", f"github_pat_{made(22)}_{made(59)}"),
    ("GitLab token", f"glpat-{made(20)}"),
    ("Hugging Face token", f"hf_{made(34)}"),
    ("Slack token", f"xoxb-1234567890-1234567890123-{made(24)}"),
    ("Slack token", f"xapp-1-A0123456789-1234567890123-{made(30)}"),
    ("AWS key", "AKIA" + "Q7" * 8),
    ("AWS key", "ASIA" + "Z3" * 8),
    ("npm token", f"npm_{made(36)}"),
    ("PyPI token", f"pypi-AgE{made(80)}"),
    ("SendGrid key", f"SG.{made(22)}.{made(43)}"),
    ("JWT", JWT),
    ("JWT", f"eyJ{made(30)}.{made(60)}.{made(16)}.{made(90)}.{made(22)}"),
    ("API key", f"sk_{HEX}"),
    ("API key", f"tgp_v1_{made(43)}"),
    ("API key", f"pcsk_{made(6)}_{made(60)}"),
    ("API key", f"fw_{made(24)}"),
    ("API key", f"lsv2_pt_{HEX[:32]}_{HEX[:10]}"),
    ("API key", f"tvly-dev-{made(32)}"),
    ("API key", f"jina_{HEX[:32]}{made(28)}"),
    ("API key", f"sbp_{HEX[:40]}"),
    ("API key", f"ak-{made(22)}"),
    ("API key", f"pa-{made(43)}"),
    ("API key", f"key-{HEX[:32]}"),
    ("API key", f"{HEX[:32]}-us12"),
    ("API key", f"lin_api_{made(40)}"),
    ("API key", f"secret_{made(43)}"),
    ("API key", f"figd_{made(40)}"),
    ("signing secret", f"whsec_{made(32)}"),
    ("Google token", f"1//0g{made(40)}"),
    ("GitLab token", f"glrt-{made(20)}"),
    ("Slack token", f"xoxd-{made(60)}"),
    ("Slack token", f"xoxe.xoxp-1-{made(60)}"),
    ("AWS key", f"bedrock-api-key-{made(80)}"),
    ("Azure secret", f"a1B8Q~{made(34)}"),
    ("RubyGems token", f"rubygems_{HEX}"),
    ("Docker token", f"dckr_pat_{made(27)}"),
    ("DigitalOcean token", f"dop_v1_{HEX}{HEX[:16]}"),
    ("Shopify token", f"shpat_{HEX[:32]}"),
    ("Atlassian token", f"ATATT3xFfGF0{made(100)}"),
    ("Databricks token", f"dapi{HEX[:32]}"),
    ("Vault token", f"hvs.{made(90)}"),
    ("Doppler token", f"dp.pt.{made(43)}"),
    ("PlanetScale token", f"pscale_tkn_{made(40)}"),
    ("Tailscale key", f"tskey-auth-{made(17)}-{made(32)}"),
    ("Grafana token", f"glsa_{made(32)}_{HEX[:8]}"),
    ("Sentry token", f"sntryu_{HEX}{HEX[:16]}"),
    ("Heroku key", f"HRKU-{made(60)}"),
    ("Fly token", f"fm2_{made(100)}"),
    ("Netlify token", f"nfp_{made(36)}"),
    ("Vercel token", f"vcp_{made(24)}"),
    ("HubSpot token", f"pat-na1-{HEX[:8]}-{HEX[:4]}-{HEX[:4]}-{HEX[:4]}-{HEX[:12]}"),
    ("Square token", f"sq0csp-{made(43)}"),
    ("1Password token", f"ops_eyJ{made(60)}"),
    ("private key", f"AGE-SECRET-KEY-1{'Q9' * 29}"),
]

IN_PLACE = [
    ("Authorization: Bearer {}", "token", made(32)),
    ('curl -H "authorization: bearer {}"', "token", f"{made(20)}.{made(20)}"),
    ("Authorization: Basic {}", "password", base64.b64encode(b"me:hunter2hunter2").decode()),
    ("https://api.example.org/v1?api_key={}&page=2", "secret", made(12)),
    ("https://api.example.org/v1?page=2&access_token={}", "secret", made(20)),
    ("postgresql://me:{}@db.example.org/x", "password", "correct-horse"),
    ("export OPENAI_API_KEY={}", "secret", made(24)),
    ("MY_SERVICE_PASSWORD={}\nNEXT=1", "secret", "hunter2hunter2"),
    ('{{"api_key": "{}", "n": 1}}', "secret", made(16)),
    ('client = Client(api_key="{}")', "secret", made(16)),
    ("client = Client(password='{}')", "secret", "pa55word!"),
    ('"{{\\"client_secret\\": \\"{}\\"}}"', "secret", made(30)),
    ("x-api-key: {}", "secret", made(32)),
    ("tool --api-key {} --verbose", "secret", made(20)),
    ("GITHUB_TOKEN={}", "secret", made(30)),
    ('curl -H "X-Api-Key: {}" https://x.org', "secret", made(20)),
    ("{{'PRIVATE-TOKEN': '{}'}}", "secret", made(20)),
    ("Authorization: token {}", "token", made(36)),
    ("Authorization: {}", "token", made(40)),
    ("curl -u me:{} https://x.org", "password", "hunter2hunter2"),
    ("machine api.example.com login me password {}\n", "password", "hunter2"),
    ("machine api.example.com\n  login me\n  password {}\n", "password", "swordfish"),
    ("//registry.npmjs.org/:_authToken={}", "secret", made(36)),
    ("_auth={}", "secret", base64.b64encode(b"me:hunter2hunter2").decode()),
    ('{{"auths": {{"x.io": {{"auth": "{}"}}}}}}', "password", base64.b64encode(b"me:hunter2hunter2").decode()),
    ("CREATE USER me WITH PASSWORD '{}'", "password", "pa55word!"),
    ("IDENTIFIED BY '{}'", "password", "pa55word!"),
    ("<password>{}</password>", "password", "pa55word!"),
    ("Cookie: id={}; theme=dark", "cookie", made(32)),
    ("Set-Cookie: session={}; Path=/", "cookie", made(32)),
    ("sessionid={}", "cookie", made(32)),
    ("https://x.blob.core.windows.net/c?sv=2022-11-02&sig={}", "signature", made(44)),
    ("https://b.s3.amazonaws.com/x?X-Amz-Signature={}&a=b", "signature", HEX),
    ("Endpoint=sb://x.net/;SharedAccessKeyName=Root;SharedAccessKey={}", "secret", made(44)),
    ("https://{}@github.com/x", "token", made(40)),
    ("[default]\naws_secret_access_key = {}", "secret", f"{made(20)}/{made(19)}"),
    ("DB_PASS={}", "secret", "pa55word1"),
    ("environ({{'FOO_TOKEN': '{}'}})", "secret", made(24)),
    ('{{"token": "{}"}}', "secret", made(24)),
    ("tool --token {} --verbose", "secret", made(24)),
    ('\\\\\\"apiKey\\\\\\":\\\\\\"{}\\\\\\"', "secret", made(20)),
    ("https://api.telegram.org/bot{}/getMe", "Telegram token", f"123456789:AA{made(33)}"),
    ("https://discord.com/api/webhooks/{}", "Discord address", f"123456789012345678/{made(68)}"),
    ("https://x.webhook.office.com/webhookb2/{}", "Teams address", f"{HEX[:32]}@{HEX[:32]}/IncomingWebhook/{HEX[:32]}"),
    ("https://hooks.slack.com/services/{}", "Slack address", f"T{made(9)}/B{made(9)}/{made(24)}"),
]

ORDINARY = [
    "The quick brown fox; sk- is a prefix, and so are ghp_ and AKIA.",
    hashlib.sha256(b"a").hexdigest(),
    f"commit {hashlib.sha1(b'a').hexdigest()}",
    "id = 'a3bb189e-8bf9-3888-9912-ace4e6543002'",
    "sk-toggleable__label-arrow sk-estimator-doc-link sk-container-id-12 sk-top-container",
    "from sklearn import svm  # sk-learn-is-a-nice-library-for-everyone-2024",
    "client = OpenAI(api_key=os.environ['OPENAI_API_KEY'])",
    "api_key=settings.api_key_2, base_url=base_url",
    "password = getpass.getpass('Password 2: ')",
    "api_key: str = field(default='')",
    "export OPENAI_API_KEY=$MY_KEY_1234567",
    'api_key="<your-api-key-1>"',
    'api_key="${OPENAI_API_KEY_2}"',
    '{"max_tokens": 4096, "token": "word2vec", "token_type": "bearer"}',
    "postgres://user:password@localhost:5432/db",
    "http://localhost:8080/@scope/package",
    "git clone git@github.com:org/repo.git",
    "Bearer authentication is what this endpoint wants",
    "the token bearer authenticated-by-certificate",
    "npm_config_registry=https://registry.example.org/",
    "hf_hub_download(repo_id='x', filename='y')",
    "primary_key=user_id_0123456789",
    "for token in tokens: total_tokens += 1",
    "-----BEGIN PRIVATE KEY----- is how such a file begins.",
    "-----BEGIN CERTIFICATE-----\n" + made(64) + "\n-----END CERTIFICATE-----",
    "eyJ is how base64 of a brace and a quote begins",
    "df['password_strength'].value_counts()",
    "def f(access_token: str, n: int = 3) -> None: ...",
    "api_key = settings_2.api_key_of_a_service",
    "password = make_a_password_for_user_2024",
    "the machine is a default password protected one",
    "a password 'required' and a token '12' are in this sentence",
    "xoxo-hugs-and-kisses-from-everybody",
    "pa-rum-pum-pum-pum-and-some-more-words-with-dashes",
    "as-soon-as-possible1",
    "<token>word2vec</token>",
    "session=20261201-101500-abcdef01 start=3",
    "https://example.org/?sig=1&signature=no",
    "secret_santa_2024_list_of_everybody_in_the_office_x",
    "https://ada@example.org/x",
    "curl -u me https://example.org:8080/x",
    "Cookie: theme=dark",
    "hf_text_generation_inference_pipeline",
    "dapi is what it is called, and hvs. too",
    "key-value-store-of-the-2024-edition",
    '{"auth": "none"}',
]


AROUND = ("{}", "key is {}.", "'{}'", '"k":"{}"', "a={}&b", "({})", "https://x.org/{}?", "\n{}\n")


@pytest.mark.parametrize(("kind", "secret"), SECRETS, ids=[f"{kind} {n}" for n, (kind, _) in enumerate(SECRETS)])
def test_a_key_is_replaced_by_its_kind_wherever_it_stands(kind, secret):
    for each in AROUND:
        # behind a bare slash these could be base64
        around = each.replace("/{}", "/?k={}") if kind in ("Google key", "AWS key") else each
        assert redact(around.format(secret)) == around.format(f"[redacted: {kind}]")


@pytest.mark.parametrize(("around", "kind", "secret"), IN_PLACE, ids=[around for around, _, _ in IN_PLACE])
def test_a_value_is_replaced_where_its_name_says_what_it_is(around, kind, secret):
    assert redact(around.format(secret)) == around.format(f"[redacted: {kind}]")


def test_a_private_key_goes_and_its_frame_stays():
    told = redact(f"cat id_rsa\n{PEM}\n$ ls")
    assert told.count("-----") == 4
    assert made(64, seed=1) not in told
    assert told.endswith("\n$ ls")
    assert redact(PEM.replace("\n", "\\n")).count("[redacted: private key]") == 1
    assert made(64, seed=0) not in redact(PEM[:120])


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_as_it_is(text):
    assert redact(text) == text


@pytest.mark.no_cover
def test_a_picture_in_base64_stays_as_it_is():
    dice = random.Random(1)
    for _ in range(20):
        picture = base64.b64encode(dice.randbytes(100_000)).decode()
        assert redact(f"data:image/png;base64,{picture}") == f"data:image/png;base64,{picture}"


def test_a_known_secret_goes_whatever_it_looks_like_and_however_it_is_written():
    secret = 'not a "pattern" & ünusual'
    told = redact(
        f'{secret} | not a \\"pattern\\" & \\u00fcnusual | not%20a%20%22pattern%22%20%26%20%C3%BCnusual',
        frozenset({secret}),
    )
    assert told == "[redacted: secret] | [redacted: secret] | [redacted: secret]"


@pytest.mark.parametrize(
    "written",
    [
        lambda secret: json.dumps(json.dumps({"a": secret})),
        lambda secret: json.dumps(secret, ensure_ascii=False),
        quote,
        quote_plus,
        lambda secret: quote(secret, safe="").lower(),
        html.escape,
        lambda secret: repr([secret]),
        lambda secret: base64.b64encode(f"me:{secret}".encode()).decode(),
        lambda secret: base64.b64encode(f"user:{secret}".encode()).decode(),
        lambda secret: base64.urlsafe_b64encode(f"y:{secret}>>>".encode()).decode(),
    ],
)
@pytest.mark.parametrize("secret", ["correct-horse+battery/staple=7", 'not a "pattern" & \\ünusual<>'])
def test_a_known_secret_goes_in_whatever_way_a_program_writes_it(secret, written):
    text = written(secret)
    told = redact(f"before {text} after", frozenset({secret}))
    assert "[redacted: secret]" in told
    assert len(told) < len(text) + 20


def test_a_known_secret_that_holds_another_goes_whole():
    assert redact("abcdefabcdef123456", frozenset({"abcdefabcdef", "abcdefabcdef123456"})) == "[redacted: secret]"


def test_a_word_that_serves_as_a_key_of_a_local_server_is_not_a_secret():
    assert redact("ollama and lm-studio", frozenset({"", "ollama", "lm-studio", " " * 20})) == "ollama and lm-studio"


PIECES = st.sampled_from(
    [secret for _, secret in SECRETS]
    + [around.format(secret) for around, _, secret in IN_PLACE]
    + ORDINARY
    + [
        PEM,
        "-",
        "/",
        ".",
        " ",
        "\n",
        '"',
        "'",
        "=",
        ":",
        "@",
        "[",
        "]",
        "&",
        "?",
        "\\",
        "Bearer ",
        "api_key=",
        '"password": "',
    ]
)


@settings(deadline=None)
@example("curl -u me:hunter2hunter2 https://x.orgcurl -u me:hunter2hunter2 https://x.org")
@given(st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=8).map("".join))
def test_twice_is_as_good_as_once(text):
    once = redact(text)
    assert redact(once) == once


@settings(deadline=None)
@given(st.text(), st.frozensets(st.text(min_size=12, max_size=40), max_size=3))
def test_no_known_secret_is_left_in_any_text(text, secrets):
    told = redact(text.join(["", *secrets, ""]), secrets)
    assert not [each for each in secrets if each.strip() and each in told and each not in "[redacted: secret]"]


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_characters=":=-_.@/ \t")))
def test_text_without_a_separator_is_never_touched(text):
    assert redact(text) == text


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "sk-",
        "-----BEGIN PRIVATE KEY-----",
        "eyJaaaaaaaaaa.",
        "://a:",
        "Bearer ",
        "api_key=",
        '"api_key":"',
        "api_key",
        "\n   ",
        "A",
        "1",
        "xoxb-1",
        "AKIA",
        "password: ",
        "curl -u ",
        "machine a login ",
        "<password>",
        "_auth=",
        "x-a-key: ",
        "\\",
    ],
)
def test_a_megabyte_of_anything_takes_linear_time(piece):
    """Both sizes are far above the timer's grain; quadratic time would be a factor of eight on top."""
    small, large = (piece * (size // len(piece)) for size in (125_000, 1_000_000))
    assert _seconds(large) < 8 * 4 * max(_seconds(small), 0.01)


def _seconds(text: str) -> float:
    before = time.process_time()
    redact(text)
    return time.process_time() - before


def test_every_rule_says_what_it_takes_and_where_to_look():
    assert all("secret" in rule.pattern.groupindex and rule.anchors for rule in RULES)
    assert all(anchor == anchor.lower() for rule in RULES for anchor in rule.anchors)


@pytest.mark.parametrize(("kind", "key"), SECRETS)
def test_plain_data_has_no_secret_at_any_depth(kind, key):
    marker = f"[redacted: {kind}]"
    fact = {
        "fact": "Replied",
        "text": key,
        "calls": [{"arguments": key, "flaw": ""}],
        "usage": {"calls": 1, "cost": 0.5},
    }
    assert redact_plain(fact) == {
        **fact, "text": marker, "calls": [{"arguments": marker, "flaw": ""}],
    }  # fmt: skip


def test_what_names_things_and_pictures_stay_as_they_are():
    key = SECRETS[0][1]
    fact = {"fact": "Opened", "session_id": key, "images": [{"mime": "image/png", "data": key}], "x": None, "ok": True}
    assert redact_plain(fact) == fact


def test_plain_data_has_no_known_secret():
    assert redact_plain({"text": "it is hunter2hunter2"}, frozenset({"hunter2hunter2"})) == {
        "text": "it is [redacted: secret]"
    }


@given(st.text(max_size=8))
def test_a_text_too_short_for_any_rule_holds_no_secret(text):
    assert redact(text) == text


@pytest.mark.parametrize(("kind", "key"), SECRETS)
def test_json_as_text_has_no_secret_at_the_beginning_of_a_line(kind, key):
    arguments = json.dumps({"code": f"first\n{key}\n\t{key}", "more": [f"export OPENAI_API_KEY={key}\nb"]})
    assert key not in redact_plain(arguments)
    assert json.loads(redact_plain(arguments))["code"] == f"first\n[redacted: {kind}]\n\t[redacted: {kind}]"


def test_a_line_within_json_is_read_as_a_line():
    password = "hunter2hunter2"
    arguments = json.dumps({"content": f"user: me\npassword: {password}\n"})
    assert password not in redact_plain(arguments)


@pytest.mark.parametrize("deep", [100, 300, 600, 900, 100_000])
def test_json_as_text_has_no_secret_however_deep_it_stands(deep):
    key = SECRETS[0][1]
    assert key not in redact_plain("[" * deep + f'"first\\n{key}"' + "]" * deep)


@pytest.mark.parametrize("text", ['{"code": "a\\nb"}', '{"a\\', "[" * 100_000 + "\\", '["é\\u00e9"]'])
def test_json_without_a_secret_stays_as_it_is_written(text):
    assert redact_plain(text) == text
