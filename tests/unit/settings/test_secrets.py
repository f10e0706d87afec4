"""Secrets: references only, values in memory only, and no leftovers."""

from __future__ import annotations

import base64
import json
import os
import tempfile
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.secrets import leaks
from ansible_collections.psap.perf.plugins.module_utils.secrets.formats import exposed, malformed
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import Hit, Redactor, scan_directory
from ansible_collections.psap.perf.plugins.module_utils.secrets.references import Reference, parse_reference, resolve

VALUE = 'pa"ss\\word-of-the-bucket'
ENCODED = base64.b64encode(VALUE.encode()).decode()


def test_three_kinds_of_references_are_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text(f"{VALUE}\n")
    monkeypatch.setenv("PERF_SECRETS_DIR", str(tmp_path))
    monkeypatch.setenv("TOKEN", VALUE)

    assert resolve(parse_reference("file:token")) == VALUE
    assert resolve(parse_reference("env:TOKEN")) == VALUE
    assert resolve(parse_reference("vault:token"), vault={"token": VALUE}.__getitem__) == VALUE


@pytest.mark.parametrize("literal", [VALUE, "http://user:password@host", "file:", "", 4, None, ["env:X"]])
def test_literal_is_refused_and_not_repeated(literal: Any) -> None:
    with pytest.raises(UsageError, match="must name a secret, not be one") as caught:
        parse_reference(literal)

    assert VALUE not in str(caught.value)
    assert "password" not in str(caught.value)


@pytest.mark.parametrize("name", ["file:/etc/passwd", "file:../x"])
def test_file_reference_stays_in_its_folder(name: str) -> None:
    with pytest.raises(UsageError, match="below"):
        parse_reference(name)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("file:nothing", "the secret file:nothing cannot be read from"),
        ("env:PERF_NOTHING", "the secret env:PERF_NOTHING is missing: set PERF_NOTHING in the environment"),
        ("vault:nothing", "the secret vault:nothing is missing: define nothing, encrypted"),
        ("env:PERF_SHORT", "the secret env:PERF_SHORT is empty or shorter than 4 characters"),
    ],
)
def test_missing_secret_names_its_expected_place(
    reference: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERF_SECRETS_DIR", str(tmp_path))
    monkeypatch.setenv("PERF_SHORT", "abc")

    with pytest.raises(UsageError) as caught:
        resolve(parse_reference(reference), vault=lambda _name: None)

    assert message in str(caught.value)


def test_file_reference_without_a_folder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PERF_SECRETS_DIR", raising=False)

    with pytest.raises(UsageError, match="set PERF_SECRETS_DIR"):
        resolve(Reference("file", "token"))


def test_values_and_their_base64_are_hidden_in_any_structure() -> None:
    redactor = Redactor([VALUE])

    redacted = redactor.redact({"a": [f"x{VALUE}y", 4, None], VALUE: ("b", ENCODED)})

    assert redacted == {"a": ["x(secret)y", 4, None], "(secret)": ("b", "(secret)")}


def test_secret_within_a_longer_one_is_hidden_with_it() -> None:
    assert Redactor(["word", "password"]).redact("password word") == "(secret) (secret)"


def test_redaction_without_secrets_changes_nothing() -> None:
    structure = {"a": ["b"]}

    assert Redactor().redact(structure) is structure


def test_planted_value_is_found_in_every_form(tmp_path: Path) -> None:
    (tmp_path / "clean.txt").write_text("nothing here\n")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "plain.log").write_text(f"one\ntwo {VALUE}\n{VALUE}\n")
    (tmp_path / "deep" / "secret.yml").write_bytes(f"data: {ENCODED}\n".encode())
    (tmp_path / "result.json").write_text('{"password": "pa\\"ss\\\\word-of-the-bucket"}\n')

    hits = scan_directory(tmp_path, [VALUE])

    assert hits == [
        Hit(tmp_path / "deep" / "plain.log", 2, "text"),
        Hit(tmp_path / "deep" / "secret.yml", 1, "base64"),
        Hit(tmp_path / "result.json", 1, "text"),
    ]


@pytest.mark.parametrize("before", ["", "u", "us", "user:"])
def test_base64_of_text_around_a_value_is_hidden_and_found(before: str, tmp_path: Path) -> None:
    header = base64.b64encode(f"{before}{VALUE}:and more".encode()).decode()
    shown = Redactor([VALUE]).redact(header)
    left, right = shown.split("(secret)")
    # The neighbours stay, and a character at each end that contains bits of them too.
    assert len(left + right) <= len(header) - len(VALUE) * 8 // 6 + 2
    (tmp_path / "x.log").write_text(header)
    assert [hit.form for hit in scan_directory(tmp_path, [VALUE])] == ["base64"]


def test_address_with_a_value_is_hidden() -> None:
    address = f"https://me:{urllib.parse.quote(VALUE, safe='')}@host"
    assert Redactor([VALUE]).redact(address) == "https://me:(secret)@host"


def test_only_credentials_in_a_pull_secret_are_hidden() -> None:
    auth = base64.b64encode(b"robot:correct-horse").decode()
    pull_secret = json.dumps({"auths": {"registry.example": {"auth": auth, "email": "robot@example.com"}}}, indent=1)
    redact = Redactor([pull_secret]).redact
    assert redact(f"Basic {auth}") == "Basic (secret)"
    assert redact("password: correct-horse") == "password: (secret)"
    assert redact("robot@example.com at registry.example") == "robot@example.com at registry.example"
    assert redact(f'{{"auth":"{auth}"}}') == '{"auth":"(secret)"}'


@pytest.mark.parametrize(
    "value", ["{broken json, broken", '{"auth": "no base64 at all"}', '{"a": [1, 2], "key": 12345678}']
)
def test_lookalike_of_a_pull_secret_is_an_ordinary_value(value: str) -> None:
    assert Redactor([value]).redact(f"x{value}y") == "x(secret)y"


@pytest.mark.parametrize(
    ("value", "hidden"),
    [
        ("[default]\naws_access_key_id = AKIAEXAMPLE\naws_secret_access_key = wJalrXUtnFEMI\n", "wJalrXUtnFEMI"),
        ('user: "search"\npassword: "correct horse"\n', "correct horse"),
        ("https://robot:hf_ABC%2FDEF@hub.example\n", "hf_ABC%2FDEF"),
        ("https://robot:hf_ABC%2FDEF@hub.example\n", "hf_ABC/DEF"),
    ],
)
def test_credentials_in_a_file_are_hidden_one_by_one(value: str, hidden: str) -> None:
    redact = Redactor([value]).redact
    assert redact(f"got {hidden}!") == "got (secret)!"
    assert redact("AKIAEXAMPLE robot search hub.example") == "AKIAEXAMPLE robot search hub.example"


def test_value_across_two_reads_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaks, "_CHUNK", 16)
    (tmp_path / "a.log").write_text("x\n" * 20 + VALUE + "\ny\n")

    assert scan_directory(tmp_path, [VALUE]) == [Hit(tmp_path / "a.log", 21, "text")]


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("text", ["any thing\nat all"], []),
        ("token", ["ghp_abc", "a.b-c/d+e="], ["two words", "two\nlines", "a\tb", "bell\a"]),
        ("key_value", ["A=1\n# said\n\nexport B_C = x y", "a.b-c=:"], ["", "# only", "A=1\nnothing", "=1"]),
        ("yaml", ["a: 1", "{a: [b]}"], ["a", "- a", "a: [", "!!python/name:os.system {}", "[" * 5000]),
        (
            "aws",
            ["[default]\naws_access_key_id = A\naws_secret_access_key=b/c\n"],
            ["a: 1", "aws_access_key_id = A", "[default]\naws_access_key_id = A\naws_secret_access_key =\n"],
        ),
        ("json", ['{"auths": {}}'], ["a: 1", "[]", "{", "[" * 100000]),
    ],
)
def test_secret_has_its_declared_type(kind: str, good: list[str], bad: list[str]) -> None:
    assert [text for text in good if malformed(text, kind)] == []
    assert [text for text in bad if not malformed(text, kind)] == []
    assert not any(text in malformed(text, kind) for text in bad if len(text) > 8)


@pytest.mark.parametrize(
    ("mode", "folder", "above", "message"),
    [
        (0o600, 0o755, 0o755, ""),
        (0o640, 0o755, 0o755, ""),
        (0o644, 0o700, 0o755, ""),
        (0o644, 0o755, 0o700, ""),
        (0o644, 0o755, 0o755, "is readable by all users of this machine: run chmod o-r on it"),
        (0o602, 0o700, 0o755, "is writable by all users"),
        (0o600, 0o777, 0o755, "is writable by all users"),
        (0o600, 0o1777, 0o755, ""),
    ],
)
def test_secret_readable_by_others_is_refused(
    mode: int, folder: int, above: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # pytest's own folders are closed to others.
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        place = Path(made) / "secrets"
        place.mkdir()
        (place / "token").write_text(VALUE)
        (place / "token").chmod(mode)
        place.chmod(folder)
        Path(made).chmod(above)
        monkeypatch.setenv("PERF_SECRETS_DIR", str(place))
        if not message:
            assert resolve(parse_reference("file:token")) == VALUE
            return
        with pytest.raises(UsageError, match=message) as caught:
            resolve(parse_reference("file:token"))
        assert VALUE not in str(caught.value)
        # As Kubernetes mounts a Secret
        (place / "..data").symlink_to(place)
        assert resolve(parse_reference("file:token")) == VALUE


def test_secret_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text(VALUE)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    if (tmp_path / "token").stat().st_uid == 0:
        os.chown(tmp_path / "token", 815, 0)
    assert "belongs to the user" in exposed(tmp_path / "token")
