"""A comment on a pull request, one for each run."""

from __future__ import annotations

from perfci.github import Access, PullRequest, repository_of

# invisible; by this mark a second notification of a run finds the comment of the first
_MARK = "<!-- psap.perf {run} -->"
_LONGEST = 60000


def comment(access: Access, pull: PullRequest, run: str, text: str) -> str:
    """Write the comment of a run, or change it if it exists; return its URL.

    Raises:
        DriverError: GitHub does not answer, or refuses.
        UsageError: PyGithub is not installed.
    """
    mark = _MARK.format(run=run)
    body = f"{text[:_LONGEST]}\n{mark}\n"
    with repository_of(access, pull, f"a comment on {pull}") as repository:
        found = repository.get_issue(pull.number)
        for each in found.get_comments():
            if mark in (each.body or ""):
                each.edit(body)
                return str(each.html_url)
        return str(found.create_comment(body).html_url)
