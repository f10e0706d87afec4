"""GitHub's API, through PyGithub: the texts of a pull request, and who owns its repository.

PyGithub, which repeats what GitHub's limits refuse, pages, and knows GitHub Apps, rather than githubkit, whose models
of the whole API bring pydantic with them.
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.bounded_yaml import load_yaml
from ansible_collections.psap.perf.plugins.module_utils.secrets.references import parse_reference, resolve

from perfdrv.ci.arguments.choosing import Policy, Text
from perfdrv.ci.job import PullRequest
from perfdrv.errors import DriverError, UsageError

if TYPE_CHECKING:
    from github import Github
    from github.PullRequest import PullRequest as Pull

_PUBLIC = "https://api.github.com"
_PAGE = 100
# nobody's pull request has more, and a job must begin
_MOST_COMMENTS = 5000
_TIMEOUT_SECONDS = 20
_URL = re.compile(r"https?://[^/]+/(?P<repository>[\w.-]+/[\w.-]+)/pull/(?P<number>\d+)(?:[/#?].*)?")


@dataclass(frozen=True, slots=True)
class Access:
    """How GitHub is reached.

    Attributes:
        token: its value, in memory only; empty for what anybody may read.
        app: id and private key of a GitHub App, which is used instead of a token.
    """

    url: str
    token: str = ""
    app: tuple[int, str] | None = None
    retries: int = 5

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Access:
        """From the values of the settings `github_…`.

        Raises:
            UsageError: a secret is missing.
        """
        token, key = (_secret(settings.get(name)) for name in ("github_token", "github_app_key"))
        identity = int(settings.get("github_app_id") or 0)
        return cls(str(settings.get("github_url") or _PUBLIC), token, (identity, key) if identity and key else None)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that nothing may show."""
        return tuple(filter(None, (self.token, self.app[1] if self.app else "")))


def _secret(reference: object) -> str:
    return resolve(parse_reference(reference)) if reference else ""


def pull_request_of(url: str) -> PullRequest:
    """The pull request that a URL names.

    Raises:
        UsageError: it names none.
    """
    match = _URL.fullmatch(url)
    if match is None:
        raise UsageError(f"{url!r} is no URL of a pull request, such as https://github.com/owner/name/pull/7.")
    place = urllib.parse.urlsplit(url)
    page = f"{place.scheme}://{place.netloc}/{match['repository']}/pull/{match['number']}"
    return PullRequest(match["repository"], int(match["number"]), "", page)


def connect(access: Access, repository: str) -> Github:
    """A client.

    Args:
        repository: in which a GitHub App is installed.

    Raises:
        UsageError: PyGithub is not installed.
    """
    try:
        from github import Auth, Github, GithubIntegration, GithubRetry
    except ImportError as error:
        raise UsageError("Arguments of pull requests need PyGithub: pip install 'psap-perf[github]'") from error
    retry = GithubRetry(total=access.retries, secondary_rate_wait=30)
    common: dict[str, Any] = {
        "base_url": access.url,
        "timeout": _TIMEOUT_SECONDS,
        "retry": retry,
        "per_page": _PAGE,
        # a conversation is a few reads in a row; where GitHub limits them, retry waits
        "seconds_between_requests": None,
    }
    if access.app is not None:
        identity, key = access.app
        integration = GithubIntegration(auth=Auth.AppAuth(identity, key), **common)
        owner, _slash, name = repository.partition("/")
        return integration.get_repo_installation(owner, name).get_github_for_installation()
    return Github(auth=Auth.Token(access.token) if access.token else None, **common)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The texts of a pull request, the comments in the order of time, and who may give arguments."""

    description: Text
    comments: tuple[Text, ...]
    policy: Policy


def read_conversation(access: Access, pull: PullRequest, settings: Mapping[str, Any]) -> Conversation:
    """Read a pull request, all pages of its comments, and the owners that its base branch names.

    Raises:
        DriverError: GitHub does not answer, or refuses.
        UsageError: PyGithub is not installed.
    """
    try:
        import requests
        from github import GithubException
    except ImportError as error:
        raise UsageError("Arguments of pull requests need PyGithub: pip install 'psap-perf[github]'") from error
    try:
        return _read(connect(access, pull.repository), pull, settings)
    except GithubException as error:
        said = error.data.get("message") if isinstance(error.data, dict) else error.data
        raise DriverError(f"GitHub refuses to show {pull.url}: {error.status} {str(said or '')[:200]}") from error
    except (requests.RequestException, ValueError, AssertionError) as error:
        raise DriverError(f"GitHub at {access.url} does not answer for {pull}: {str(error)[:300]}") from error


def _read(client: Github, pull: PullRequest, settings: Mapping[str, Any]) -> Conversation:
    repository = client.get_repo(pull.repository)
    found = repository.get_pull(pull.number)
    comments = []
    for each in found.get_issue_comments():
        author = each.user.login if each.user else ""
        comments.append(Text(each.body or "", each.html_url, author, each.author_association or ""))
        if len(comments) > _MOST_COMMENTS:
            raise DriverError(f"{pull.url} has more than {_MOST_COMMENTS} comments: begin a new pull request.")
    owners = _owners(found) if settings.get("github_owners_may_set") else frozenset[str]()
    author = found.user.login if found.user else ""
    description = Text(found.body or "", pull.url, author, found.author_association or "")
    policy = Policy(frozenset(settings.get("github_may_set") or ()), owners)
    return Conversation(description, tuple(comments), policy)


def _owners(pull: Pull) -> frozenset[str]:
    """Approvers and reviewers of OWNERS as the base branch has it, which no pull request changes for itself."""
    from github import UnknownObjectException

    try:
        content = pull.base.repo.get_contents("OWNERS", ref=pull.base.ref)
    except UnknownObjectException:
        return frozenset()
    if isinstance(content, list):
        return frozenset()
    try:
        document = load_yaml(content.decoded_content.decode())
    except (yaml.YAMLError, UnicodeDecodeError):
        return frozenset()
    named = [document.get(key) for key in ("approvers", "reviewers")] if isinstance(document, dict) else []
    return frozenset(str(name).lower() for names in named if isinstance(names, list) for name in names)
