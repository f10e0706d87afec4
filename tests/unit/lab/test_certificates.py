"""The lab's certificates pass the strict verification of Python 3.13; failures have a message."""

from __future__ import annotations

import datetime
import ssl
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import certificate_advice
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from perflab.control_plane.certificates import Authority, Pair


def test_server_and_client_certificates_pass_strict_verification(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "pki")
    server, client = authority.issue_server("server", ["kubernetes"]), authority.issue_client("admin", "admin", "a")
    _shake_hands(server, authority.pair.certificate, client)


def test_peers_verify_each_other_with_one_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "pki")
    pair, server = authority.issue_peer("peer"), authority.issue_server("server", [])
    _shake_hands(pair, authority.pair.certificate, pair)
    with pytest.raises(ssl.SSLCertVerificationError, match="unsuitable certificate purpose"):
        _shake_hands(server, authority.pair.certificate, server)


def test_authority_without_key_identifiers_is_refused_with_a_remedy(tmp_path: Path) -> None:
    authority, server = _old_fashioned(tmp_path)
    with pytest.raises(ssl.SSLCertVerificationError) as refused:
        _shake_hands(server, authority.certificate, server)
    assert "use Python 3.12" in certificate_advice(refused.value)


def test_foreign_authority_is_not_a_python_3_13_problem(tmp_path: Path) -> None:
    authority, other = Authority(tmp_path / "one"), Authority(tmp_path / "other")
    with pytest.raises(ssl.SSLCertVerificationError) as refused:
        _shake_hands(authority.issue_server("server", []), other.pair.certificate, other.issue_client("a", "a"))
    assert certificate_advice(refused.value) == ""


def _shake_hands(server: Pair, authority: Path, client: Pair) -> None:
    """Make a TLS handshake in memory in which each side verifies the other."""
    contexts = (ssl.create_default_context(cafile=str(authority)), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
    for context, pair in zip(contexts, (client, server), strict=True):
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        context.load_cert_chain(pair.certificate, pair.key)
    contexts[1].load_verify_locations(str(authority))
    contexts[1].verify_mode = ssl.CERT_REQUIRED
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    one = contexts[0].wrap_bio(down, up, server_hostname="localhost")
    two = contexts[1].wrap_bio(up, down, server_side=True)
    waiting = [one, two]
    for _turn in range(20):
        for side in list(waiting):
            try:
                side.do_handshake()
                waiting.remove(side)
            except ssl.SSLWantReadError:
                pass
    assert not waiting
    # With TLS 1.3 the client is done before the server has verified its certificate.
    two.write(b"well")
    assert one.read() == b"well"


def _old_fashioned(folder: Path) -> tuple[Pair, Pair]:
    """Create an authority and a server certificate without identifiers, as many private authorities do."""
    keys = {name: ec.generate_private_key(ec.SECP256R1()) for name in ("authority", "server")}
    names = {name: x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in keys}
    now = datetime.datetime.now(datetime.UTC)
    pairs = []
    for name, key in keys.items():
        certificate = (
            x509.CertificateBuilder()
            .subject_name(names[name])
            .issuer_name(names["authority"])
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(hours=1))
            .add_extension(x509.BasicConstraints(ca=name == "authority", path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
            .sign(keys["authority"], hashes.SHA256())
        )
        pair = Pair(folder / f"{name}.crt", folder / f"{name}.key")
        pair.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        private = serialization.PrivateFormat.TraditionalOpenSSL
        pair.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, private, serialization.NoEncryption()))
        pairs.append(pair)
    return pairs[0], pairs[1]
