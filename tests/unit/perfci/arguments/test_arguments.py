"""Arguments of a pull request, from a simulated GitHub API to the settings of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from perfci.arguments.applying import agreed_target, read_arguments
from perfci.arguments.choosing import JobArguments
from perfci.github import Access, pull_request_of
from perfdrv.__main__ import main
from perfdrv.errors import DriverError, UsageError
from perfdrv.project import Project

from tests.schemas import check_file
from tests.standins.github_api import PAGE, GitHubApi, github_api
from tests.unit.driver.conftest import ROOT

SETTINGS = {"github_may_set": ["OWNER", "MEMBER"], "github_owners_may_set": True}
TEST = "/test scale-test"
COMMAND = ("--project", str(ROOT), "ci", "arguments", "--pull", PAGE, "--test", "scale-test")


@pytest.fixture
def api() -> Iterator[GitHubApi]:
    """Return a pull request without comments."""
    with github_api() as served:
        yield served


def arguments(api: GitHubApi, project: Project, access: Access | None = None) -> JobArguments:
    """Return the arguments of the job scale-test."""
    return read_arguments(project, pull_request_of(PAGE), "scale-test", access or Access(api.url, retries=3), SETTINGS)


def values(found: JobArguments) -> dict[str, object]:
    """Return the settings by name."""
    return {one.key: one.value for one in found.pull.settings}


def test_last_comment_with_the_test_follows_the_description(api: GitHubApi, repository: Project) -> None:
    api.body = "/var scale_test_count: 10\n/var scale_test_gpus: 2\n/skip plots"
    api.comments = [
        ("ada", "MEMBER", f"{TEST} scale_test_smoke\n/var scale_test_count: 20"),
        ("ada", "MEMBER", f"/lgtm\n{TEST} lab scale_test_poisson\n/var scale_test_count: 30\n/only test"),
        ("ada", "MEMBER", "/test scale-test-light scale_test_smoke\n/var scale_test_count: 40"),
        ("ada", "MEMBER", "thank you"),
    ]
    found = arguments(api, repository)
    assert found.problems == []
    assert values(found) == {"scale_test_gpus": 2, "scale_test_count": 30}
    assert [name for name, _where in found.pull.presets] == ["lab", "scale_test_poisson"]
    assert str(found.pull.settings[-1].where) == f"{api.comment_url(1)}:3"
    assert (found.choice.skip, found.choice.only) == (("plots",), ("test",))


def test_all_pages_are_read_once(api: GitHubApi, repository: Project) -> None:
    asking = ("ada", "MEMBER", f"{TEST}\n/var scale_test_count: 50")
    api.comments = [asking, *[("bob", "NONE", f"comment {number}\r\n> {TEST}") for number in range(499)]]
    assert values(arguments(api, repository)) == {"scale_test_count": 50}
    pages = [path for path, _authorization in api.requests if "/comments" in path]
    assert len(pages) == 5


@pytest.mark.parametrize("count", [0, 99, 100, 101, 200])
def test_page_boundaries_lose_no_comment(api: GitHubApi, repository: Project, count: int) -> None:
    api.comments = [("bob", "NONE", "x")] * count + [("ada", "OWNER", f"{TEST}\n/var scale_test_count: 5")]
    assert values(arguments(api, repository)) == {"scale_test_count": 5}


@pytest.mark.parametrize(
    ("author", "association", "owners", "counts"),
    [
        ("eve", "NONE", None, False),
        ("eve", "CONTRIBUTOR", None, False),
        ("eve", "MEMBER", None, True),
        ("Eve", "NONE", "approvers: [eve]\n", True),
        ("eve", "NONE", "reviewers:\n- grace\n- eve\n", True),
        ("eve", "NONE", "approvers: {eve: x}\nfilters: [\n", False),
        ("eve", "NONE", "- eve\n", False),
    ],
)
def test_only_authorized_users_may_pass_arguments(
    api: GitHubApi, repository: Project, author: str, association: str, owners: str | None, counts: bool
) -> None:
    api.author, api.association, api.body = author, association, "/var scale_test_gpus: 2"
    api.owners = owners
    api.comments = [
        ("ada", "MEMBER", f"{TEST}\n/var scale_test_count: 10"),
        (author, association, f"{TEST}\n/var scale_test_count: 20"),
    ]
    found = arguments(api, repository)
    assert values(found) == ({"scale_test_gpus": 2, "scale_test_count": 20} if counts else {"scale_test_count": 10})
    assert any("may not set arguments" in remark for remark in found.remarks) != counts


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("/var scale_test_count: many", "scale_test_count must be an int, but is the text 'many'"),
        ('/var scale_test_count: "50"', "scale_test_count must be an int, but is the text '50'"),
        ("/var scale_test_count: []", "is an empty list of values"),
        ("/var scale_test_counts: 5", "did you mean scale_test_count?"),
        ("/var scale_test_submit_count: 5", "is not a setting; a pull request can only set settings"),
        ("/var scale_test_template: /etc/shadow", "a pull request cannot set scale_test_template"),
        ("/var github_token: env:HOME", "a pull request cannot set github_token"),
        ("/var perf_kubeconfig: /root/x", "perf_kubeconfig is not a setting"),
        ("/var ansible_connection: ssh", "ansible_connection is not a setting"),
        ("/var scale_test_duration: \"{{ lookup('pipe', 'id') }}\"", "a pull request cannot set templates"),
        ("/var fine_tuning_hyper_parameters: {'{%x%}': 1}", "a pull request cannot set templates"),
        ("/var fine_tuning_hyper_parameters.r: 2026-01-01", "quote it if it is text"),
        ("/var scale_test_count: 1\n/var scale_test_count: 2", "scale_test_count is set twice"),
        ("/vra scale_test_count: 1", "did you mean /var?"),
        (f"{TEST} scale_test_smokey", "unknown preset scale_test_smokey; did you mean scale_test_smoke?"),
        (f"{TEST} ../x", "is not the name of a preset"),
        ("/skip tests", "there is no step 'tests'; did you mean test?"),
        ("/only", "has no step"),
        ("/cluster ../../etc", "there is no site '../../etc'"),
        ("/cluster lab local", "needs the name of one site"),
        ("/project scale_tset", "did you mean scale_test?"),
        ("/var scale_test_count: &a [*a]", "an anchor, an alias or a tag"),
    ],
)
def test_mistake_is_reported_with_its_place(api: GitHubApi, repository: Project, line: str, problem: str) -> None:
    api.comments = [("ada", "MEMBER", f"{TEST}\n{line}")]
    found = arguments(api, repository)
    assert any(problem in text and text.startswith(f"{api.comment_url(0)}:") for text in found.problems), found.problems


def test_job_must_match_its_pull_request(api: GitHubApi, repository: Project) -> None:
    api.comments = [("ada", "MEMBER", f"{TEST}\n/cluster lab\n/project scale_test")]
    found = arguments(api, repository)
    assert agreed_target(found, None, None) == ("scale_test", "lab")
    assert agreed_target(found, "scale_test", "lab") == ("scale_test", "lab")
    with pytest.raises(UsageError, match=r"/project scale_test conflicts with the project of this job, fine"):
        agreed_target(found, "fine_tuning", None)


def test_rate_limit_and_transient_errors_are_retried(api: GitHubApi, repository: Project) -> None:
    api.failures = [502, 403, 503]
    api.comments = [("ada", "MEMBER", f"{TEST}\n/var scale_test_count: 5")]
    assert values(arguments(api, repository, Access(api.url, token="ghp_x", retries=5))) == {"scale_test_count": 5}
    assert {authorization for _path, authorization in api.requests} == {"token ghp_x"}


@pytest.mark.parametrize(
    ("statuses", "answer", "message"),
    [
        ([404], None, "refuses to show"),
        ([401], None, "refuses to show"),
        ([500] * 20, None, r"does not answer|refuses to show"),
        ([], b"<html>", r"does not answer|refuses to show"),
        ([], b"[]", r"does not answer|refuses to show"),
    ],
)
def test_permanent_github_failure_is_one_error(
    api: GitHubApi, repository: Project, statuses: list[int], answer: bytes | None, message: str
) -> None:
    api.failures, api.answer = statuses, answer
    with pytest.raises(DriverError, match=message):
        arguments(api, repository, Access(api.url, retries=1))


def test_unreachable_github_is_one_error(repository: Project) -> None:
    with pytest.raises(DriverError, match="does not answer"):
        read_arguments(repository, pull_request_of(PAGE), "x", Access("http://127.0.0.1:9", retries=0), SETTINGS)


def test_github_app_uses_its_installation_token(api: GitHubApi, repository: Project) -> None:
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    text = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
    api.comments = [("ada", "MEMBER", f"{TEST}\n/var scale_test_count: 5")]
    found = arguments(api, repository, Access(api.url, app=(3, text), retries=1))
    assert values(found) == {"scale_test_count": 5}
    assert "ghs_of-the-installation" in api.requests[-1][1]


@pytest.mark.parametrize(
    "url", ["x", "https://github.com/o/r", "https://github.com/o/r/issues/1", "file:///o/r/pull/1"]
)
def test_url_without_a_pull_request_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="is not the URL of a pull request"):
        pull_request_of(url)


def test_command_shows_and_explains_the_arguments(
    api: GitHubApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api.comments = [("ada", "MEMBER", f"{TEST} scale_test_smoke\n/var scale_test_count: [30, 60]")]
    written = tmp_path / "arguments.yml"
    assert main([*COMMAND, "-s", f"github_url={api.url}", "--write", str(written)]) == 0
    assert f"{api.comment_url(0)}:2" in capsys.readouterr().out
    check_file(written)
    extra = json.dumps({"perf_pull_arguments": str(written)})
    assert main(["--project", str(ROOT), "settings", "explain", "scale_test_count", "-e", extra, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["value"] == [30, 60]
    assert [layer["layer"] for layer in document["layers"]][-2:] == ["preset scale_test_smoke", "pull request"]
    assert document["layers"][-1]["origin"] == f"{api.comment_url(0)}:2"


def test_command_fails_if_a_job_would_be_refused(api: GitHubApi, capsys: pytest.CaptureFixture[str]) -> None:
    api.comments = [("ada", "MEMBER", f"{TEST}\n/vra x: 1")]
    assert main([*COMMAND, "-s", f"github_url={api.url}"]) == 2
    assert "did you mean /var?" in capsys.readouterr().err
