"""A history in a real OpenSearch: pushed once, complete and scrubbed; pulled unchanged; refusals are reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.__main__ import run
from perfanalysis.results.history.folder import add, canonical, load
from perfanalysis.results.opensearch.connection import PASSWORD, USER, Server, ServerError, connect
from perfanalysis.results.opensearch.indices import FIELDS, Patience, index_name, pull, push
from perflab.control_plane.certificates import Authority

from tests.integration.opensearch.conftest import CREDENTIALS
from tests.integration.opensearch.proxy import Proxy, proxy
from tests.unit.analysis.histories import document, kpi

Ended = tuple[int, str, str]
FACTS = {
    "site": "bench-7",
    "cluster.server": "https://api.bench.example.com:6443",
    "cluster.version": "4.20",
    "setting.note": "on bench-7 with file:token",
    "setting.long": "x" * 40_000,
    "setting.odd": {"a": [1, None, [2]], "": {}, "b.c": 1.0},
}


def history(folder: Path, runs: int = 3) -> Path:
    """Create a folder of runs with two KPIs each, whose values have many digits."""
    for day in range(1, runs + 1):
        add(folder, document(day, [kpi("a", day + 1 / 3), kpi("b", 1e-320, unit="bytes")], facts=FACTS))
    return folder


@pytest.fixture
def perfanalysis(server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that runs `perfanalysis history` and checks that its output has no password."""
    monkeypatch.setenv(USER, CREDENTIALS[0])
    monkeypatch.setenv(PASSWORD, CREDENTIALS[1])

    def history_command(*words: str | Path, prefix: str = server.prefix) -> Ended:
        code = run(["history", *map(str, words), "--prefix", prefix])
        ended = capsys.readouterr()
        assert not any(CREDENTIALS[1] in text for text in (ended.out, ended.err))
        return code, ended.out, ended.err

    return history_command


def stored_documents(server: Server) -> dict[str, tuple[int, int, dict[str, Any]]]:
    """Return every document on the server by ID: version, sequence number, content."""
    client = connect(server)
    names = ",".join(index_name(server, what) for what in FIELDS)
    body = {"size": 1000, "version": True, "seq_no_primary_term": True}
    hits = client.search(index=names, body=body)["hits"]["hits"]
    return {hit["_id"]: (hit["_version"], hit["_seq_no"], hit["_source"]) for hit in hits}


def test_second_push_changes_nothing(tmp_path: Path, server: Server, perfanalysis: Any) -> None:
    folder = history(tmp_path / "history")
    words = ("push", folder, "--to", server.url, "--ca-file", server.ca_file)
    assert perfanalysis(*words)[:2] == (0, "3 runs pushed, 0 already there\n6 values of KPIs pushed, 0 already there\n")
    first = stored_documents(server)
    assert len(first) == 9
    assert perfanalysis(*words)[:2] == (0, "0 runs pushed, 3 already there\n0 values of KPIs pushed, 6 already there\n")
    assert stored_documents(server) == first
    assert {version for version, _, _ in first.values()} == {1}


def test_site_of_the_server_has_its_runs(tmp_path: Path, server: Server, perfanalysis: Any) -> None:
    folder, words = history(tmp_path / "history"), (server.url, "--ca-file", server.ca_file)
    assert perfanalysis("push", folder, "--to", *words)[0] == 0
    assert perfanalysis("site", *words, "--to", tmp_path / "site")[0] == 0
    page = (tmp_path / "site" / "history.html").read_text()
    assert f"<h1>{server.prefix}</h1>" in page
    assert [page.index(f'"id":"run-00{day}"') for day in (1, 2, 3)] == sorted(
        page.index(f'"id":"run-00{day}"') for day in (1, 2, 3)
    )
    assert "bench-7" not in page


def test_pulled_documents_equal_exported_ones(tmp_path: Path, server: Server, perfanalysis: Any) -> None:
    folder, target = history(tmp_path / "history"), tmp_path / "pulled"
    assert run(["history", "export", str(folder), "--to", str(tmp_path / "exported")]) == 0
    assert perfanalysis("push", folder, "--to", server.url, "--ca-file", server.ca_file)[0] == 0
    words = ("pull", target, "--from", server.url, "--ca-file", server.ca_file)
    assert perfanalysis(*words)[1] == f"3 runs pulled into {target}, 0 already there\n"
    assert perfanalysis(*words)[1] == f"0 runs pulled into {target}, 3 already there\n"
    files = {path.name: path.read_bytes() for path in (tmp_path / "exported").iterdir()}
    assert files == {path.name: path.read_bytes() for path in target.iterdir()}
    # of two copies of a run, the local one has more facts and is used
    assert perfanalysis("pull", folder, "--from", server.url, "--ca-file", server.ca_file)[0] == 0
    assert all(found["facts"] == FACTS for found in load(folder).documents)


def test_scrubbed_values_are_not_on_the_server(tmp_path: Path, server: Server, perfanalysis: Any) -> None:
    rules = tmp_path / "rules.yml"
    rules.write_text('replace: ["x{1000,}"]\n')
    folder = history(tmp_path / "history", 1)
    words = ("push", folder, "--to", server.url, "--ca-file", server.ca_file, "--rules", rules)
    assert perfanalysis(*words)[0] == 0
    text = json.dumps([source for _, _, source in stored_documents(server).values()])
    assert [word for word in ("bench-7", "bench.example.com", "file:token", "xxxx") if word in text] == []
    assert "4.20" in text


def test_mapping_does_not_grow_with_the_settings_of_runs(server: Server) -> None:
    first = document(0, [kpi("a", 1.0)], facts=FACTS, keys={"setting": 1})
    push(server, [first])
    client = connect(server)
    names = ",".join(index_name(server, what) for what in FIELDS)
    before = client.indices.get_mapping(index=names)
    documents = []
    for day in range(1, 41):
        facts = {f"setting.own_{day}_{number}": {"nested": number} for number in range(50)}
        documents.append(
            document(day, [kpi(f"kpi_{day}", 1.0)], facts=facts, keys={f"key_{day}": day, "setting": {"a": "b"}})
        )
    pushed = push(server, documents)
    assert (pushed.failures, pushed.new["runs"]) == ((), 40)
    assert client.indices.get_mapping(index=names) == before
    query = {"query": {"term": {"facts.setting.own_7_3.nested": "3"}}}
    assert client.count(index=index_name(server, "runs"), body=query)["count"] == 1


def test_values_are_queried_by_name_key_and_time(server: Server) -> None:
    runs = [document(day, [kpi("a", float(day)), kpi("b", 0.0)], keys={"count": day % 2}) for day in range(1, 7)]
    push(server, runs)
    wanted = [{"term": {"name": "a"}}, {"term": {"keys.count": "1"}}, {"range": {"started": {"gte": "2026-03-03"}}}]
    body = {
        "size": 0,
        "query": {"bool": {"filter": wanted}},
        "aggs": {
            "days": {
                "date_histogram": {"field": "started", "fixed_interval": "2d"},
                "aggs": {"mean": {"avg": {"field": "value"}}},
            }
        },
    }
    answer = connect(server).search(index=index_name(server, "kpis"), body=body)
    buckets = answer["aggregations"]["days"]["buckets"]
    assert [bucket["mean"]["value"] for bucket in buckets if bucket["doc_count"]] == [3.0, 5.0]


@pytest.mark.deep
def test_more_than_ten_thousand_runs_are_pulled(server: Server) -> None:
    runs = [document(day, []) for day in range(10_050)]
    assert push(server, runs).new["runs"] == len(runs)
    found = sorted((each for each in pull(server) if isinstance(each, dict)), key=lambda each: str(each["started"]))
    assert list(map(canonical, found)) == list(map(canonical, runs))


def test_runs_of_one_flow_are_pulled(server: Server) -> None:
    push(server, [document(1, []), document(2, [], flow="fine_tuning")])
    assert [each["run"] for each in pull(server, "fine_tuning") if isinstance(each, dict)] == ["run-002"]


def test_certificate_of_an_unknown_authority_is_refused(
    tmp_path: Path, server: Server, before: Proxy, perfanalysis: Any
) -> None:
    folder = history(tmp_path / "history", 1)
    before.requests.clear()
    code, output, told = perfanalysis("push", folder, "--to", server.url)
    assert (code, output) == (3, "")
    assert f"cannot verify the certificate of {server.url}: " in told
    assert "unable to get local issuer certificate; pass the authority that signed it with --ca-file FILE" in told
    # the server got no request, and so no password
    assert before.requests == []
    assert perfanalysis("push", folder, "--to", server.url, "--no-verify")[::2] == (
        0,
        "warning: the server's certificate is not verified\n",
    )


def test_certificate_of_another_machine_is_refused(
    tmp_path: Path, plain_server: str, authority: Authority, perfanalysis: Any
) -> None:
    other = authority.issue_client("other", "another.example.com")
    with proxy(plain_server, CREDENTIALS, other) as pretender:
        words = ("--to", pretender.url, "--ca-file", authority.pair.certificate)
        code, _, told = perfanalysis("push", history(tmp_path / "history", 1), *words)
        assert (code, pretender.requests) == (3, [])
    assert "cannot verify the certificate of " in told
    assert "127.0.0.1" in told


def test_wrong_credentials_are_reported_without_showing_them(
    tmp_path: Path, server: Server, perfanalysis: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("push", history(tmp_path / "history", 1), "--to", server.url, "--ca-file", server.ca_file)
    monkeypatch.setenv(USER, "somebody-else")
    code, _, told = perfanalysis(*words)
    assert (code, told.count("\n")) == (3, 1)
    assert f"{server.url} refuses the credentials (401): check {USER} and {PASSWORD}, or --credentials FILE" in told
    kept = tmp_path / "credentials.yml"
    kept.write_text(f"user: {CREDENTIALS[0]}\npassword: {CREDENTIALS[1]}\n")
    kept.chmod(0o600)
    assert perfanalysis(*words, "--credentials", kept)[0] == 0
    kept.chmod(0o640)
    code, _, told = perfanalysis(*words, "--credentials", kept)
    assert (code, "(mode 0640): run chmod 600" in told) == (2, True)


def test_busy_server_is_retried(server: Server, before: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("opensearchpy.helpers.actions.time.sleep", waited.append)
    before.faults.extend([429, 429])
    pushed = push(server, [document(1, [kpi("a", 1.0)])], Patience(attempts=3, first_wait_s=0.5))
    assert (pushed.new["kpis"], pushed.new["runs"], pushed.failures) == (1, 1, ())
    assert waited == [0.5, 1.0]


def test_push_to_a_permanently_busy_server_fails(
    tmp_path: Path, server: Server, before: Proxy, perfanalysis: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opensearchpy.helpers.actions.time.sleep", lambda _: None)
    before.faults.extend([429] * 20)
    words = ("push", history(tmp_path / "history", 1), "--to", server.url, "--ca-file", server.ca_file)
    code, _, told = perfanalysis(*words)
    assert (code, told.count("\n")) == (3, 1)
    assert f"{server.url} is too busy (429) after several attempts: try again later" in told


def test_push_that_ends_before_its_runs_is_completed(server: Server, before: Proxy) -> None:
    documents = [document(day, [kpi("a", 1.0), kpi("b", 2.0)]) for day in (1, 2)]
    before.faults.extend([0, 500])
    with pytest.raises(ServerError):
        push(server, documents)
    # the values are on the server, and no run that has them
    assert list(pull(server)) == []
    pushed = push(server, documents)
    assert (pushed.new, pushed.there, pushed.failures) == ({"runs": 2}, {"kpis": 4}, ())


def test_unreachable_server_is_reported(tmp_path: Path, perfanalysis: Any) -> None:
    code, _, told = perfanalysis("push", history(tmp_path / "history", 1), "--to", "https://127.0.0.1:9")
    assert code == 3
    assert told == "Error: cannot connect to https://127.0.0.1:9: [Errno 111] Connection refused; check the address\n"


def test_documents_rejected_by_the_server_are_named(tmp_path: Path, server: Server, perfanalysis: Any) -> None:
    client = connect(server)
    # an index like the project's, except that runs are numbers
    push(server, [])
    name = index_name(server, "kpis")
    mappings = client.indices.get_mapping(index=name)[name]["mappings"]
    mappings["properties"]["run"] = {"type": "long"}
    client.indices.delete(index=name)
    client.indices.create(index=name, body={"mappings": mappings})
    folder = history(tmp_path / "history", 1)
    add(folder, document(2, [kpi("a", 1.0)], run="17"))
    code, output, told = perfanalysis("push", folder, "--to", server.url, "--ca-file", server.ca_file)
    assert (code, output) == (1, "1 run pushed, 0 already there\n1 value of a KPI pushed, 0 already there\n")
    assert "could not store 2 documents of 1 run: KPI a of run-001: mapper_parsing_exception: " in told
    assert "KPI b of run-001" in told
    # a run with incomplete values is not on the server either
    assert [each["run"] for each in pull(server) if isinstance(each, dict)] == ["17"]


def test_document_modified_on_the_server_is_named_and_left_out(
    tmp_path: Path, server: Server, perfanalysis: Any
) -> None:
    push(server, [document(1, [kpi("a", 1.0)]), document(2, [kpi("a", 1.0)])])
    client, index = connect(server), index_name(server, "runs")
    (hit,) = client.search(index=index, body={"query": {"term": {"run": "run-001"}}})["hits"]["hits"]
    hit["_source"]["document"]["status"] = "failed"
    client.index(index=index, id=hit["_id"], body=hit["_source"], params={"refresh": "true"})
    code, output, told = perfanalysis("pull", tmp_path / "h", "--from", server.url, "--ca-file", server.ca_file)
    assert (code, output) == (5, f"1 run pulled into {tmp_path / 'h'}, 0 already there\n")
    assert "left out: run-001 was changed on the server after it was pushed" in told


def test_foreign_index_is_left_unchanged(tmp_path: Path, server: Server, perfanalysis: Any) -> None:
    client = connect(server)
    client.indices.create(index=index_name(server, "runs"))
    code, _, told = perfanalysis("push", history(tmp_path / "h", 1), "--to", server.url, "--ca-file", server.ca_file)
    assert (code, f"the index {index_name(server, 'runs')} does not belong to psap.perf" in told) == (3, True)
    assert client.count(index=index_name(server, "runs"))["count"] == 0


def test_history_never_pushed_is_reported(tmp_path: Path, server: Server, perfanalysis: Any) -> None:
    code, _, told = perfanalysis("pull", tmp_path / "h", "--from", server.url, "--ca-file", server.ca_file)
    assert (code, f"{server.url} has no history with the prefix {server.prefix}" in told) == (2, True)
