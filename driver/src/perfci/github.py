"""GitHub's API, through PyGithub: access, and pull requests.

PyGithub repeats requests that GitHub's limits refuse, reads all pages, and supports GitHub Apps. githubkit does so too,
but its models of the whole API need pydantic.
"""

from __future__ import annotations

import contextlib
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.psap.perf.plugins.module_utils.secrets.references import parse_reference, resolve
from perfdrv.errors import DriverError, UsageError

if TYPE_CHECKING:
    from github import Github
    from github.Repository import Repository

_PUBLIC = "https://api.github.com"
_PAGE = 100
_TIMEOUT_SECONDS = 20
_URL = re.compile(r"https?://[^/]+/(?P<repository>[\w.-]+/[\w.-]+)/pull/(?P<number>\d+)(?:[/#?].*)?")


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request.

    Attributes:
        repository: `owner/name`.
        author: Login; empty if unknown.
        url: Its page.
    """

    repository: str
    number: int
    author: str
    url: str

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"


@dataclass(frozen=True, slots=True)
class Access:
    """Access to GitHub.

    Attributes:
        token: Its value, in memory only; empty for public repositories.
        app: ID and private key of a GitHub App, which is used instead of a token.
    """

    url: str
    token: str = ""
    app: tuple[int, str] | None = None
    retries: int = 5

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Access:
        """Return the access that the values of the settings `github_…` configure.

        Raises:
            UsageError: A secret is missing.
        """
        token, key = (_secret(settings.get(name)) for name in ("github_token", "github_app_key"))
        identity = int(settings.get("github_app_id") or 0)
        return cls(str(settings.get("github_url") or _PUBLIC), token, (identity, key) if identity and key else None)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not appear in any output."""
        return tuple(filter(None, (self.token, self.app[1] if self.app else "")))


def _secret(reference: object) -> str:
    return resolve(parse_reference(reference)) if reference else ""


def pull_request_of(url: str) -> PullRequest:
    """Return the pull request that a URL names.

    Raises:
        UsageError: The URL does not name a pull request.
    """
    match = _URL.fullmatch(url)
    if match is None:
        raise UsageError(f"{url!r} is not the URL of a pull request, such as https://github.com/owner/name/pull/7")
    place = urllib.parse.urlsplit(url)
    page = f"{place.scheme}://{place.netloc}/{match['repository']}/pull/{match['number']}"
    return PullRequest(match["repository"], int(match["number"]), "", page)


@contextlib.contextmanager
def repository_of(access: Access, pull: PullRequest, action: str) -> Iterator[Repository]:
    """Yield the repository of a pull request; errors of PyGithub in the block become errors of the driver.

    Args:
        action: For the message of a refusal, such as `to show owner/name#7`.

    Raises:
        DriverError: GitHub does not answer, or refuses.
        UsageError: PyGithub is not installed.
    """
    try:
        import requests
        from github import GithubException
    except ImportError as error:
        raise UsageError("pull requests need PyGithub: pip install 'psap-perf[github]'") from error
    try:
        yield _connect(access, pull.repository).get_repo(pull.repository)
    except GithubException as error:
        message = error.data.get("message") if isinstance(error.data, dict) else error.data
        raise DriverError(f"GitHub refuses {action}: {error.status} {str(message or '')[:200]}") from error
    except (requests.RequestException, ValueError, AssertionError) as error:
        raise DriverError(f"GitHub at {access.url} does not answer for {pull}: {str(error)[:300]}") from error


def _connect(access: Access, repository: str) -> Github:
    """Return a client.

    Args:
        repository: A repository in which the GitHub App is installed.
    """
    from github import Auth, Github, GithubIntegration, GithubRetry

    common: dict[str, Any] = {
        "base_url": access.url,
        "timeout": _TIMEOUT_SECONDS,
        "retry": GithubRetry(total=access.retries, secondary_rate_wait=30),
        "per_page": _PAGE,
        # a conversation takes a few requests in a row; where GitHub limits them, retry waits
        "seconds_between_requests": None,
    }
    if access.app is not None:
        identity, key = access.app
        integration = GithubIntegration(auth=Auth.AppAuth(identity, key), **common)
        owner, _slash, name = repository.partition("/")
        return integration.get_repo_installation(owner, name).get_github_for_installation()
    return Github(auth=Auth.Token(access.token) if access.token else None, **common)
