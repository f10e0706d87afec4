"""Metrics in the text format of Prometheus, and a server that states them."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import Endpoint
from ansible_collections.psap.perf.plugins.module_utils.serving.scraping import (
    MetricSample,
    parse_metrics,
    scrape,
    serves_tls,
)

from tests.standins.openshift.entitlements import certificate_and_key

TEXT = """\
# HELP llamacpp:tokens_predicted_total Number of generated tokens.
# TYPE llamacpp:tokens_predicted_total counter
llamacpp:tokens_predicted_total 870
# TYPE llamacpp:requests_processing gauge
llamacpp:requests_processing 2 1790000000000
# TYPE ttft histogram
ttft_bucket{model="a",le="0.1"} 3
ttft_bucket{model="a",le="+Inf"} 4
ttft_sum{model="a"} 0.5
ttft_count{model="a"} 4
# TYPE latency summary
latency{quantile="0.5"} 0.1
latency_sum 1e-3
untyped{text="a } b"} 1
nothing NaN
not a line
"""


def test_values_have_labels_and_whether_they_grow() -> None:
    assert parse_metrics(TEXT) == (
        MetricSample("llamacpp:tokens_predicted_total", "", True, 870.0),
        MetricSample("llamacpp:requests_processing", "", False, 2.0),
        MetricSample("ttft_sum", '{model="a"}', True, 0.5),
        MetricSample("ttft_count", '{model="a"}', True, 4.0),
        MetricSample("latency_sum", "", True, 0.001),
        MetricSample("untyped", '{text="a } b"}', False, 1.0),
    )


@contextmanager
def server(status: int, certificate: Path | None = None) -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/metrics" else 418)
            self.end_headers()
            self.wfile.write(TEXT.encode())

        def log_message(self, *_words: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            serving.socket = context.wrap_socket(serving.socket, server_side=True)
        threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True).start()
        scheme, port = "https" if certificate else "http", serving.server_address[1]
        yield Endpoint(scheme, "127.0.0.1", port, place="port 8080 of pod a/b")
        serving.shutdown()


def test_text_of_a_server_is_returned() -> None:
    with server(200) as endpoint:
        assert scrape(endpoint) == TEXT


def test_certificate_of_the_pod_itself_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "own.pem"
    now = datetime.now(UTC)
    path.write_text("".join(certificate_and_key(now - timedelta(hours=1), now + timedelta(hours=1))))
    with server(200, path) as endpoint:
        assert scrape(endpoint) == TEXT


def test_probe_states_whether_a_port_has_tls() -> None:
    def pod(scheme: str) -> dict[str, Any]:
        probes = {"startupProbe": {"exec": {}}, "readinessProbe": {"httpGet": {"port": 8000, "scheme": scheme}}}
        return {"spec": {"containers": [{"name": "sidecar"}, {"name": "main", **probes}]}}

    assert serves_tls(pod("HTTPS"), 8000)
    assert not serves_tls(pod("HTTPS"), 8001)
    assert not serves_tls(pod("HTTP"), 8000)


def test_server_without_metrics_is_an_error() -> None:
    with (
        server(404) as endpoint,
        pytest.raises(ClusterError, match="port 8080 of pod a/b has no /metrics: it responds with 404 Not Found"),
    ):
        scrape(endpoint)
    with pytest.raises(ClusterError, match="port 8080 of pod a/b does not respond"):
        scrape(endpoint)
