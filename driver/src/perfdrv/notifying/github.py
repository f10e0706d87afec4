"""A comment on a pull request, one for each run."""

from __future__ import annotations

from perfdrv.ci.arguments.github import Access, connect
from perfdrv.ci.job import PullRequest
from perfdrv.errors import DriverError, UsageError

# invisible; by it a run that is told again has its comment changed
_MARK = "<!-- psap.perf {run} -->"
_LONGEST = 60000


def comment(access: Access, pull: PullRequest, run: str, text: str) -> str:
    """Write the comment of a run, or change it where it is there; its URL.

    Raises:
        DriverError: GitHub does not answer, or refuses.
        UsageError: PyGithub is not installed.
    """
    try:
        import requests
        from github import GithubException
    except ImportError as error:
        raise UsageError("Comments on pull requests need PyGithub: pip install 'psap-perf[github]'") from error
    mark = _MARK.format(run=run)
    body = f"{text[:_LONGEST]}\n{mark}\n"
    try:
        found = connect(access, pull.repository).get_repo(pull.repository).get_issue(pull.number)
        for each in found.get_comments():
            if mark in (each.body or ""):
                each.edit(body)
                return str(each.html_url)
        return str(found.create_comment(body).html_url)
    except GithubException as error:
        said = error.data.get("message") if isinstance(error.data, dict) else error.data
        raise DriverError(f"GitHub refuses a comment on {pull}: {error.status} {str(said or '')[:200]}") from error
    except (requests.RequestException, ValueError, AssertionError) as error:
        raise DriverError(f"GitHub at {access.url} does not answer for {pull}: {str(error)[:200]}") from error
