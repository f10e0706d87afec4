"""A comment on a pull request, one for each job, or for each run that is not of a job."""

from __future__ import annotations

from perfci.github import Access, PullRequest, repository_of

# invisible; by this mark a later notification finds the comment of an earlier one
_MARK = "<!-- psap.perf {subject} -->"
_LONGEST = 60000


def comment(access: Access, pull: PullRequest, subject: str, text: str) -> str:
    """Write the comment about a job or run, or change it if it exists; return its URL.

    Raises:
        DriverError: GitHub does not answer, or refuses.
        UsageError: PyGithub is not installed.
    """
    mark = _MARK.format(subject=subject)
    body = f"{text[:_LONGEST]}\n{mark}\n"
    with repository_of(access, pull, f"a comment on {pull}") as repository:
        found = repository.get_issue(pull.number)
        for each in found.get_comments():
            if mark in (each.body or ""):
                each.edit(body)
                return str(each.html_url)
        return str(found.create_comment(body).html_url)
