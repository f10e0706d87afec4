"""The texts of a pull request on GitHub, and who may set arguments in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.bounded_yaml import load_yaml
from perfdrv.errors import DriverError

from perfci.arguments.choosing import Policy, Text
from perfci.github import Access, PullRequest, repository_of

if TYPE_CHECKING:
    from github.PullRequest import PullRequest as Pull
    from github.Repository import Repository

# more than any pull request has, so that reading ends and the job starts
_MOST_COMMENTS = 5000


@dataclass(frozen=True, slots=True)
class Conversation:
    """The texts of a pull request, comments oldest first, and the policy for them."""

    description: Text
    comments: tuple[Text, ...]
    policy: Policy


def read_conversation(access: Access, pull: PullRequest, settings: Mapping[str, Any]) -> Conversation:
    """Read a pull request, all its comments, and the owners that OWNERS of its base branch lists.

    Raises:
        DriverError: GitHub does not answer, or refuses.
        UsageError: PyGithub is not installed.
    """
    with repository_of(access, pull, f"to show {pull.url}") as repository:
        return _read(repository, pull, settings)


def _read(repository: Repository, pull: PullRequest, settings: Mapping[str, Any]) -> Conversation:
    found = repository.get_pull(pull.number)
    comments = []
    for each in found.get_issue_comments():
        author = each.user.login if each.user else ""
        comments.append(Text(each.body or "", each.html_url, author, each.author_association or ""))
        if len(comments) > _MOST_COMMENTS:
            raise DriverError(f"{pull.url} has more than {_MOST_COMMENTS} comments: open a new pull request")
    owners = _owners(found) if settings.get("github_owners_may_set") else frozenset[str]()
    author = found.user.login if found.user else ""
    description = Text(found.body or "", pull.url, author, found.author_association or "")
    policy = Policy(frozenset(settings.get("github_may_set") or ()), owners)
    return Conversation(description, tuple(comments), policy)


def _owners(pull: Pull) -> frozenset[str]:
    """Return approvers and reviewers of OWNERS in the base branch, which the pull request itself cannot change."""
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
