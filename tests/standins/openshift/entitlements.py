"""Entitlements without a subscription: certificate and private key in one PEM, like the customer portal's.

``python -m tests.standins.openshift.entitlements FOLDER`` writes one that is valid, one that has expired and an
authority into FOLDER.
"""

from __future__ import annotations

import datetime
import os
import sys
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

_DAY = datetime.timedelta(days=1)


def certificate_and_key(begin: datetime.datetime, end: datetime.datetime) -> tuple[str, str]:
    """Return a certificate that is valid from *begin* to *end*, and its key, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "entitlement of no subscription")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(end)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return certificate.public_bytes(Encoding.PEM).decode(), secret.decode()


def _write(folder: Path) -> None:
    now = datetime.datetime.now(datetime.UTC)
    for name, end in (("valid", now + _DAY), ("expired", now - _DAY), ("authority", now + _DAY)):
        certificate, key = certificate_and_key(now - 2 * _DAY, end)
        path = folder / f"{name}.pem"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
            stream.write(certificate if name == "authority" else certificate + key)


if __name__ == "__main__":
    _write(Path(sys.argv[1]))
