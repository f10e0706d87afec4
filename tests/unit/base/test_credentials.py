"""Credentials are detected by their form in any text; similar texts are kept."""

from __future__ import annotations

import base64
import json

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.credentials import HIDDEN, hide, hide_in_stream
from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml

from tests.data.credentials import PLANTED


@pytest.mark.parametrize("name", PLANTED)
def test_credential_is_removed_completely(name: str) -> None:
    planted = PLANTED[name]
    text = f"pulling failed: {planted.text}, will try again"
    document = {"message": text, "inner": {"list": [planted.text, json.dumps({"again": planted.text})]}}
    for written in (text, json.dumps(document), json.dumps(document, indent=2), dump_yaml(document)):
        shown = hide(written)
        assert [part for part in planted.secret if part in shown] == []
        assert HIDDEN in shown
        assert "will try again" in " ".join(shown.split())
        assert hide(shown) == shown
    assert json.loads(hide(json.dumps(document))).keys() == document.keys()


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("size", [7, 50, 10_000])
def test_stream_may_be_cut_anywhere(name: str, size: int) -> None:
    planted = PLANTED[name]
    whole = f"a line\n{planted.text}\nthe last\n".encode()
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    shown = b"".join(hide_in_stream(pieces)).decode()
    assert [part for part in planted.secret if part in shown] == []
    assert shown.startswith("a line\n")
    assert shown.endswith("\nthe last\n")


def test_stream_without_lines_is_passed_on_early() -> None:
    pieces = iter([b"x" * 100_000, b"y"])
    stream = hide_in_stream(pieces)
    assert len(next(stream)) == 100_000
    assert b"".join(stream) == b"y"


CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIDDTCCAfWgAwIBAgI\n-----END CERTIFICATE-----\n"


@pytest.mark.parametrize(
    "harmless",
    [
        "https://api.bench.example.com:6443/apis?watch=1&from=someone@example.com",
        "ssh://git@github.com/openshift-psap/topsail.git",
        "oci://registry.example.com:5000/image@sha256:0123456789abcdef0123456789abcdef",
        "bearer authentication is wanted, basic authentication is not offered",
        "basic documentation",
        'auth: certificate\nauth: "anonymous"',
        "unauthorized: authentication required",
        '{"password": "file:registry"}',
        "the Secret secret_key of namespace/secretKey is missing",
        "keyJobs.of-a-namespace.and-a-cluster",
        CERTIFICATE,
        base64.b64encode(CERTIFICATE.encode()).decode(),
        base64.b64encode(b"-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAA\n").decode(),
        "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    ],
)
def test_harmless_text_is_kept(harmless: str) -> None:
    assert hide(harmless) == harmless


@pytest.mark.parametrize(
    "text",
    [f"bearer{' ' * 200}!", f"Basic{' ' * 200}!", "bearer" + "\\n" * 200 + "!", "secret_key" + "\\\\n" * 200 + "!"],
    ids=["bearer", "basic", "line_ends", "backslashes"],
)
def test_long_gap_after_a_mark_is_read_once(text: str) -> None:
    # An expression that could split the gap in several ways would not end.
    assert hide(text) == text
