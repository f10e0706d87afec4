"""Check the PEM file of an entitlement before nodes get it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

_KEY = "PRIVATE KEY-----"


def check_entitlement(pem: str, what: str, now: datetime) -> datetime:
    """Return when the entitlement *pem* expires; its certificate comes before any other.

    Args:
        what: Name in errors, which do not contain the PEM.

    Raises:
        UsageError: If certificate or key is missing or unreadable, they do not match, or it is not valid *now*.
    """
    certificate = _certificates(pem, what)[0]
    key = _key(pem, what)
    if _public(key.public_key()) != _public(certificate.public_key()):
        raise UsageError(f"{what}: its private key does not match its certificate")
    _check_dates(certificate, what, now)
    return certificate.not_valid_after_utc


def check_authority(pem: str, what: str, now: datetime) -> None:
    """Raise a UsageError unless *pem* has certificates, all of which are valid."""
    for certificate in _certificates(pem, what):
        _check_dates(certificate, what, now)


def _certificates(pem: str, what: str) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(pem.encode())
    except ValueError:
        raise UsageError(f"{what} has no readable certificate; it must be a PEM file") from None


def _key(pem: str, what: str) -> PrivateKeyTypes:
    text = "".join(_key_lines(pem))
    if not text:
        raise UsageError(f"{what} has no private key; append it to the certificate, in one file")
    try:
        return load_pem_private_key(text.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise UsageError(f"{what} has a private key that is invalid or needs a password") from None


def _key_lines(pem: str) -> Iterator[str]:
    inside = False
    for line in pem.splitlines():
        inside = inside or (line.startswith("-----BEGIN ") and line.rstrip().endswith(_KEY))
        if inside:
            yield f"{line}\n"
        inside = inside and not line.startswith("-----END ")


def _public(key: PublicKeyTypes) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _check_dates(certificate: x509.Certificate, what: str, now: datetime) -> None:
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if now > end:
        raise UsageError(f"{what} expired on {_text(end)}; download a new one from the customer portal")
    if now < begin:
        raise UsageError(f"{what} is not valid before {_text(begin)}; check the clock of this machine")


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
