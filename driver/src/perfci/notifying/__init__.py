"""Notifications about a run: messages in a thread of Slack, and a comment on a pull request."""
