"""The lab's own certificate authority, and the certificates that it signs."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from perflab.files import documents
from perflab.processes.ports import LOOPBACK

# as which the API server calls kubelets
API_SERVER_USER = "perflab:apiserver"

_VALID = datetime.timedelta(days=365)
# clocks of virtual machines jump
_TOLERANCE = datetime.timedelta(hours=1)

_CLIENT, _SERVER = ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH

_Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
_PublicKey = ec.EllipticCurvePublicKey | rsa.RSAPublicKey


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate file and its key file, both PEM."""

    certificate: Path
    key: Path


class Authority:
    """A certificate authority with its files in one folder; new for each lab."""

    def __init__(self, folder: Path) -> None:
        """Create the authority's key and certificate in `folder`."""
        self._folder = documents.private_folder(folder)
        # RSA as in kubeadm: the API server verifies a client's certificate at each request, and verifying an RSA
        # signature costs a quarter of verifying one on an elliptic curve
        self._key = _rsa_key()
        self._name = _name("perflab", None)
        builder = _builder(self._name, self._name, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        builder = builder.add_extension(_key_usage(signs_certificates=True), critical=True)
        self._write(self.pair, builder.sign(self._key, hashes.SHA256()), self._key)

    @property
    def pair(self) -> Pair:
        """Return the authority's own files."""
        return self._pair("ca")

    def issue_client(self, file: str, user: str, group: str | None = None) -> Pair:
        """Sign a client certificate for a Kubernetes user, in a group."""
        return self._issue(file, _name(user, group), [], _CLIENT)

    def issue_server(self, file: str, names: list[str]) -> Pair:
        """Sign a server certificate for the loopback address and these names or addresses."""
        return self._issue(file, _name(file, None), ["localhost", LOOPBACK, *names], _SERVER)

    def issue_peer(self, file: str) -> Pair:
        """Sign a certificate for programs on the loopback address that verify each other."""
        return self._issue(file, _name(file, None), ["localhost", LOOPBACK], _SERVER, _CLIENT)

    def make_signing_key(self, file: str) -> Pair:
        """Create a key pair to sign service account tokens; `certificate` is its public key."""
        pair = self._pair(file)
        # the API server's token issuer requires RSA or ECDSA; clusters use RSA
        key = _rsa_key()
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        documents.write_private(pair.certificate, public)
        documents.write_private(pair.key, _key_bytes(key))
        return pair

    def _issue(
        self,
        file: str,
        subject: x509.Name,
        names: list[str],
        *usage: x509.ObjectIdentifier,
    ) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, self._name, key.public_key())
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.add_extension(issuer, critical=False)
        builder = builder.add_extension(_key_usage(signs_certificates=False), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage(usage), critical=False)
        if names:
            alternatives = x509.SubjectAlternativeName(map(_alternative, names))
            builder = builder.add_extension(alternatives, critical=False)
        pair = self._pair(file)
        self._write(pair, builder.sign(self._key, hashes.SHA256()), key)
        return pair

    def _pair(self, file: str) -> Pair:
        return Pair(self._folder / f"{file}.crt", self._folder / f"{file}.key")

    def _write(self, pair: Pair, certificate: x509.Certificate, key: _Key) -> None:
        documents.write_private(pair.certificate, certificate.public_bytes(serialization.Encoding.PEM))
        documents.write_private(pair.key, _key_bytes(key))


def _name(user: str, group: str | None) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, user)]
    if group:
        parts.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
    return x509.Name(parts)


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(subject: x509.Name, issuer: x509.Name, public_key: _PublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _TOLERANCE)
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
    )


def _key_usage(signs_certificates: bool) -> x509.KeyUsage:
    """Extensions that Python 3.13, which verifies by RFC 5280, requires of an authority and its certificates."""
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _key_bytes(key: _Key) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
