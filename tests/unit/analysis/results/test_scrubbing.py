"""Exports are scrubbed by rules in a data file, at every place of a document."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from perfanalysis.cli import cli
from perfanalysis.errors import UsageError
from perfanalysis.files.credentials import HIDDEN
from perfanalysis.results.history.folder import add, load
from perfanalysis.results.scrubbing import DROPPED, REPLACED, REPLACEMENTS, STANDARD, read_rules, scrub

from tests.unit.analysis.histories import document, kpi

DOCUMENTS = Path(__file__).resolve().parents[4] / "docs" / "history.md"
FACTS = {
    "cluster.server": "https://api.bench.example.com:6443",
    "site": "bench-7",
    "setting.export_url": "https://someone:word@bucket.example.com/results?x=1",
    "setting.secrets_token": "file:token",
    "setting.image": "quay.io/some/image:1.2",
    "setting.note": "at 10.2.3.4:8080, sha256~abcdefghijklmnopqrstuvwxyz, by env:PASSWORD",
    "setting.nested": {"password": "x", "kept": ["eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz", 3]},
}


def text(given: str) -> str:
    """Return a text after scrubbing."""
    scrubbed = scrub(document(1, [], facts={"setting.note": given}), STANDARD)["facts"]["setting.note"]
    return str(scrubbed)


def test_machine_names_addresses_and_secrets_are_removed(tmp_path: Path) -> None:
    folder, target = tmp_path / "history", tmp_path / "given-away"
    add(folder, document(1, [kpi("a", 1.0)], facts=FACTS))
    done = CliRunner().invoke(cli, ["history", "export", str(folder), "--to", str(target)], catch_exceptions=False)
    assert done.exit_code == 0
    (exported,) = load(target).documents
    assert exported["facts"] == {
        "setting.export_url": f"https://{REPLACED}/results?x=1",
        "setting.image": "quay.io/some/image:1.2",
        "setting.note": f"at {REPLACED}, {HIDDEN}, by {REPLACED}",
        "setting.nested": {"kept": [HIDDEN, 3]},
    }
    assert exported["recordings"][0]["kpis"] == [kpi("a", 1.0)]


@pytest.mark.parametrize(
    "secret",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "Bearer abcdef0123456789",
        "HF_TOKEN=hf_abcdefgh",
        "--password=correct-horse",
        "https://user:word@proxy.example.com:3128",
        "someone@bench.example.com",
        "/home/someone",
        "192.168.1.20:6443",
        "2001:db8:85a3::8a2e:370:7334",
        "52:54:00:ab:cd:ef",
        "worker-3.bench.example.com",
        "node7.rack2.lab.internal:9100",
        "ip-10-0-131-7.ec2.internal",
        "ip-10-0-131-7",
        "vault:ci/registry",
    ],
)
def test_sensitive_text_is_removed(secret: str) -> None:
    left = text(f"it said: {secret} (and more)")
    assert REPLACED in left
    telling = [word for word in re.split(r"[\s/=@]+|://", secret) if len(word) > 4 and word.lower() not in LABELS]
    assert [word for word in telling if word in left] == []


LABELS = {"https:", "https", "bearer", "/home", "hf_token", "--password", "vault:ci"}


@pytest.mark.parametrize(
    "harmless",
    [
        "quay.io/some/image:1.2",
        "registry.access.redhat.com/ubi9/ubi:9.4",
        "app.kubernetes.io/name",
        "v1.34.1+k3s1",
        "2026-11-20T09:29:29.000Z",
        "nvidia.com/gpu: 8",
        "002__cluster__capture/artifacts",
        "0123456789abcdef0123456789abcdef01234567",
        "12:30:45",
    ],
)
def test_harmless_text_is_kept(harmless: str) -> None:
    assert text(harmless) == harmless


def test_value_of_a_dropped_fact_is_removed_everywhere() -> None:
    given = document(
        1,
        [],
        facts={
            "site": "bench-7",
            "cluster.server": "https://api.mybench:6443",
            "lab": "default",
            "setting.a": "bench-70",
        },
        keys={"where": "on bench-7 by api.mybench", "scheduler": "default"},
    )
    scrubbed = scrub(given, STANDARD)
    assert scrubbed["recordings"][0]["keys"] == {"where": f"on {REPLACED} by {REPLACED}", "scheduler": "default"}
    assert scrubbed["facts"] == {"setting.a": "bench-70"}


def test_scrubbing_is_idempotent() -> None:
    once = scrub(document(1, [kpi("a", 1.0)], facts=FACTS), STANDARD)
    assert scrub(once, STANDARD) == once
    assert json.dumps(once, sort_keys=True) == json.dumps(
        scrub(document(1, [kpi("a", 1.0)], facts=FACTS), STANDARD), sort_keys=True
    )


def test_custom_rules_are_added(tmp_path: Path) -> None:
    rules = tmp_path / "rules.yml"
    rules.write_text('drop: ["setting.project"]\nreplace: ["rack-[0-9]+"]\n')
    own = read_rules(rules)
    scrubbed = scrub(document(1, [], facts={"setting.note": "on rack-7", "project": 1}, keys={"where": "rack-8"}), own)
    assert scrubbed["facts"] == {"setting.note": f"on {REPLACED}", "project": 1}
    assert scrubbed["recordings"][0]["keys"] == {"where": REPLACED}
    assert own.drop[: len(STANDARD.drop)] == STANDARD.drop


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("- a list", "the file must be a mapping"),
        ("hide: []", "unknown key hide"),
        ('replace: ["("]', "invalid regular expression"),
        ("{", "no YAML"),
    ],
)
def test_invalid_rules_are_refused(tmp_path: Path, content: str, message: str) -> None:
    rules = tmp_path / "rules.yml"
    rules.write_text(content)
    with pytest.raises(UsageError, match=message):
        read_rules(rules)


def test_page_lists_every_rule() -> None:
    words = " ".join(DOCUMENTS.read_text().split())
    assert [why for why in REPLACEMENTS if why not in words] == []
    assert [name for name in DROPPED if f"`{name}`" not in words] == []
