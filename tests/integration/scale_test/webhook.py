"""A validating webhook on this machine that refuses workloads by their index, or never answers."""

from __future__ import annotations

import datetime
import ipaddress
import json
import ssl
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

LOOPBACK = "127.0.0.1"


class RefusingWebhook:
    """Serves HTTPS in its context; refuses the last of each *every* indices; with 0 never answers."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._ending = threading.Event()
        self.certificate, key = _self_signed()
        self._server = ThreadingHTTPServer((LOOPBACK, 0), self._handler())
        self._server.socket = _serving(self.certificate + key).wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """The URL that the API server calls."""
        return f"https://{LOOPBACK}:{self._server.server_port}/validate"

    def __enter__(self) -> RefusingWebhook:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        every, ending = self._every, self._ending

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                if not every:
                    ending.wait()
                    self.close_connection = True
                    return
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body = json.dumps(_answer(review, every)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the base class names it
                """Log nothing."""

        return Handler


def _answer(review: dict[str, Any], every: int) -> dict[str, Any]:
    request = review["request"]
    # controllers may create others of the same kind
    index = int(request["object"]["metadata"].get("labels", {}).get("psap.perf/index", 0))
    response = {"uid": request["uid"], "allowed": index % every != every - 1}
    if not response["allowed"]:
        response["status"] = {"message": f"index {index} is refused"}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


def _self_signed() -> tuple[bytes, bytes]:
    """Return a certificate for this machine, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "webhook")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(
        now + datetime.timedelta(days=1)
    )
    address = x509.IPAddress(ipaddress.ip_address(LOOPBACK))
    certificate = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False).sign(
        key, hashes.SHA256()
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM), private


def _serving(pem: bytes) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "webhook.pem"
        path.write_bytes(pem)
        context.load_cert_chain(path)
    return context
