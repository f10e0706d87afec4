"""Invalid entitlements are refused without repeating their content."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.openshift.entitlements import (
    check_authority,
    check_entitlement,
)

from tests.standins.openshift.entitlements import certificate_and_key

NOW = datetime(2026, 11, 25, tzinfo=UTC)
YEAR = timedelta(days=365)
CERTIFICATE, KEY = certificate_and_key(NOW - YEAR, NOW + YEAR)
OTHER_CERTIFICATE, OTHER_KEY = certificate_and_key(NOW - YEAR, NOW + YEAR)
BROKEN = "-----BEGIN CERTIFICATE-----\nbm8gY2VydGlmaWNhdGUgYXQgYWxsLCBub3Qgb25l\n-----END CERTIFICATE-----\n"
BROKEN_KEY = BROKEN.replace("CERTIFICATE", "PRIVATE KEY")


@pytest.mark.parametrize("pem", [CERTIFICATE + KEY, KEY + CERTIFICATE, CERTIFICATE + OTHER_CERTIFICATE + KEY.strip()])
def test_certificate_and_key_in_one_file_are_an_entitlement(pem: str) -> None:
    assert check_entitlement(pem, "it", NOW) == NOW + YEAR


@pytest.mark.parametrize(
    ("pem", "now", "message"),
    [
        ("no PEM at all", NOW, "has no readable certificate"),
        (KEY, NOW, "has no readable certificate"),
        (BROKEN + KEY, NOW, "has no readable certificate"),
        (CERTIFICATE, NOW, "has no private key; append it"),
        (CERTIFICATE + BROKEN_KEY, NOW, "has a private key that is invalid"),
        (CERTIFICATE + OTHER_KEY, NOW, "its private key does not match"),
        (CERTIFICATE + KEY, NOW + 2 * YEAR, "expired on 2027-11-25 00:00 UTC; download a new one"),
        (CERTIFICATE + KEY, NOW - 2 * YEAR, "is not valid before 2025-11-25 00:00 UTC"),
    ],
)
def test_other_content_is_refused(pem: str, now: datetime, message: str) -> None:
    with pytest.raises(UsageError, match=f"^the PEM:? {message}") as caught:
        check_entitlement(pem, "the PEM", now)
    assert not [line for line in pem.splitlines() if line in str(caught.value)]


def test_every_certificate_of_an_authority_must_be_valid() -> None:
    old, _key = certificate_and_key(NOW - 2 * YEAR, NOW - YEAR)
    check_authority(CERTIFICATE + OTHER_CERTIFICATE, "the CA", NOW)
    with pytest.raises(UsageError, match="the CA expired on 2025-11-25"):
        check_authority(CERTIFICATE + old, "the CA", NOW)
