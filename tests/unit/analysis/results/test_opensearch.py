"""Requests that are refused before they are sent, and messages for a server's refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from perfanalysis.errors import UsageError
from perfanalysis.results.opensearch.connection import (
    PASSWORD,
    USER,
    Server,
    ServerError,
    client_errors,
    connect,
    read_credentials,
)
from perfanalysis.results.opensearch.indices import LONGEST_TEXT, Failure, Pushed, of_kpis, of_run, searchable

from tests.unit.analysis.histories import document, kpi

SECRET = "correct-horse"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"url": f"https://me:{SECRET}@search.example.com"}, "remove the credentials from the address"),
        ({"url": "search.example.com:9200"}, "is not the address of a server"),
        ({"url": "ftp://search.example.com"}, "is not the address of a server"),
        ({"url": "https://"}, "is not the address of a server"),
        ({"url": "https://search.example.com/?pretty"}, "is not the address of a server"),
        ({"url": "http://search.example.com", "credentials": ("me", SECRET)}, "in plain text: use https"),
        ({"url": "https://search.example.com", "prefix": "Upper"}, "invalid prefix of indices"),
        ({"url": "https://search.example.com", "prefix": "*"}, "invalid prefix of indices"),
    ],
)
def test_invalid_address_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why) as refused:
        Server(**given)
    assert SECRET not in str(refused.value)


def test_server_hides_its_password() -> None:
    server = Server("http://127.0.0.1:9200", credentials=("me", SECRET))
    assert SECRET not in f"{server!r} {server}"


def test_credentials_come_from_the_environment_or_a_private_file(tmp_path: Path) -> None:
    assert read_credentials(None, {}) is None
    assert read_credentials(None, {USER: "me", PASSWORD: SECRET}) == ("me", SECRET)
    kept = tmp_path / "credentials.yml"
    kept.write_text(f"user: you\npassword: {SECRET}\n")
    kept.chmod(0o600)
    assert read_credentials(kept, {USER: "me", PASSWORD: "other"}) == ("you", SECRET)
    kept.chmod(0o400)
    assert read_credentials(kept, {}) == ("you", SECRET)


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o660, 0o644])
def test_file_readable_by_others_is_refused(tmp_path: Path, mode: int) -> None:
    kept = tmp_path / "credentials.yml"
    kept.write_text(f"user: you\npassword: {SECRET}\n")
    kept.chmod(mode)
    with pytest.raises(UsageError, match=rf"other users can read .* .mode {mode:04o}.: run chmod 600"):
        read_credentials(kept, {})


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (f"password: {SECRET}", "must contain user and password"),
        (f"user: 1\npassword: {SECRET}", "must contain user and password"),
        (f"- {SECRET}", "must contain user and password"),
        (f"user: me\npassword: '{SECRET}", "is not YAML with user and password"),
        (f"user: me\npassword: {SECRET}: {SECRET}", "is not YAML with user and password"),
    ],
)
def test_credentials_file_is_refused_without_its_content(tmp_path: Path, content: str, why: str) -> None:
    kept = tmp_path / "credentials.yml"
    kept.write_text(content)
    kept.chmod(0o600)
    with pytest.raises(UsageError, match=why) as refused:
        read_credentials(kept, {})
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None


def test_incomplete_credentials_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"{USER} is set and {PASSWORD} is not"):
        read_credentials(None, {USER: "me"})
    with pytest.raises(UsageError, match=f"{PASSWORD} is set and {USER} is not") as refused:
        read_credentials(None, {PASSWORD: SECRET})
    assert SECRET not in str(refused.value)
    with pytest.raises(UsageError, match=r"cannot read .*: No such file"):
        read_credentials(tmp_path / "nowhere", {})


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_file_without_certificates_is_refused(tmp_path: Path, content: str | None) -> None:
    authority = tmp_path / "ca.pem"
    if content is not None:
        authority.write_text(content)
    with pytest.raises(UsageError, match="is not a file of certificates"):
        connect(Server("https://127.0.0.1:9", ca_file=authority))


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ({"number": "8.15.0"}, "is no OpenSearch 8.15.0; OpenSearch 2.7 or newer is needed"),
        ({"number": "1.3.20", "distribution": "opensearch"}, "is opensearch 1.3.20; OpenSearch 2.7 or newer"),
        (None, "is no OpenSearch; OpenSearch 2.7 or newer is needed"),
    ],
)
def test_unsupported_server_is_refused(
    monkeypatch: pytest.MonkeyPatch, version: dict[str, str] | None, why: str
) -> None:
    monkeypatch.setattr("opensearchpy.OpenSearch.info", lambda _: {"version": version})
    with pytest.raises(ServerError, match=why):
        connect(Server("http://127.0.0.1:9"))


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (401, "refuses the credentials"),
        (403, "denies this user access"),
        (413, "of this size"),
        (503, "answered 503: x"),
    ],
)
def test_status_becomes_an_error_message(status: int, why: str) -> None:
    from opensearchpy import exceptions

    with pytest.raises(ServerError, match=why) as refused, client_errors("https://here"):
        raise exceptions.HTTP_EXCEPTIONS.get(status, exceptions.TransportError)(status, "x", {})
    assert str(refused.value).startswith("https://here ")


def test_run_is_found_by_fields_of_its_document() -> None:
    server = Server("http://127.0.0.1:9200", "perf")
    given = document(
        3, [{**kpi("a", 1.5), "labels": {"tenant": "blue"}}], facts={"setting.a": "x", "version.b": "y" * 9000}
    )
    run = of_run(given, server)
    assert (run.index, run.source["document"], run.source["run"]) == ("perf-runs-1", given, "run-003")
    assert run.source["facts"] == {"setting.a": "x", "version.b": "y" * LONGEST_TEXT}
    (value,) = of_kpis(given, server)
    assert value.index == "perf-kpis-1"
    assert value.source["content"] == run.identity
    assert value.source["labels"] == {"recording": "001__scale_test__submit", "tenant": "blue"}
    assert value.source["facts"].keys() == {"version.b"}
    assert (value.source["name"], value.source["value"]) == ("a", 1.5)
    assert next(of_kpis(document(3, [kpi("a", 1.6)]), server)).identity != value.identity


def test_invalid_time_is_not_exported() -> None:
    assert of_run(document(3, [], started="yesterday"), Server("http://127.0.0.1:9200")).source["started"] is None
    assert searchable([{"a": ["b" * 9000, 1, None]}]) == [{"a": ["b" * LONGEST_TEXT, 1, None]}]


def test_many_failures_are_reported_by_the_first() -> None:
    from collections import Counter

    failures = tuple(Failure(f"r{number}", "run", "no room") for number in range(12))
    error = Pushed(Counter(), Counter(), failures).error()
    assert error is not None
    assert (error.exit_code, str(error).count("no room")) == (1, 10)
    assert "could not store 12 documents of 12 runs" in str(error)
    assert "; and 2 more. Fix this and push again" in str(error)
