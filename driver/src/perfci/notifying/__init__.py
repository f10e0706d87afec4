"""Telling people what came of a run: in a thread of Slack, and by a comment on a pull request."""
