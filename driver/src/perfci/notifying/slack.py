"""Slack, through its SDK: a message in the thread of a subject, which a later notification updates.

community.general's module can neither find a thread nor repeat a request that Slack's limits refuse.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from perfdrv.errors import DriverError, UsageError

if TYPE_CHECKING:
    from slack_sdk import WebClient
    from slack_sdk.errors import SlackApiError

_PUBLIC = "https://slack.com/api/"
_EVENT = "psap_perf_thread"
_TIMEOUT_SECONDS = 20
_TRIES = 4
_PAGE = 200
# of history; an older thread is not found, and gets a successor
_MOST_PAGES = 10
# the message was deleted, has another author, or is older than the workspace allows changes
_CHANGE_NO_MORE = ("message_not_found", "cant_update_message", "edit_window_closed")


@dataclass(frozen=True, slots=True)
class SlackAccess:
    """The destination of messages.

    Attributes:
        channel: Its ID, such as C0123456789.
    """

    channel: str
    token: str = field(repr=False)
    url: str = _PUBLIC


def post(access: SlackAccess, subject: str, title: str, text: str, former: str = "") -> str:
    """Post a message in the thread of a subject, and return its time stamp.

    Args:
        title: The first message of a new thread.
        former: Time stamp of a message that is updated instead, if it still exists.

    Raises:
        DriverError: Slack does not answer, or refuses.
        UsageError: slack_sdk is not installed.
    """
    try:
        from slack_sdk.errors import SlackApiError, SlackClientError
    except ImportError as error:
        raise UsageError("messages in Slack need slack_sdk: pip install 'psap-perf[slack]'") from error
    client = _client(access)
    try:
        if former:
            try:
                return str(client.chat_update(channel=access.channel, ts=former, text=text)["ts"])
            except SlackApiError as error:
                if _error_code(error) not in _CHANGE_NO_MORE:
                    raise
        thread = _find_thread(client, access.channel, subject) or _start_thread(client, access.channel, subject, title)
        answer = client.chat_postMessage(
            channel=access.channel, text=text, thread_ts=thread, unfurl_links=False, unfurl_media=False
        )
    except SlackApiError as error:
        raise DriverError(f"Slack refuses a message to {access.channel}: {_error_code(error)}") from error
    except (SlackClientError, OSError, ValueError) as error:
        raise DriverError(f"Slack at {access.url} does not answer: {str(error)[:200]}") from error
    return str(answer["ts"])


def _error_code(error: SlackApiError) -> str:
    """Return Slack's code of an error, or the HTTP status."""
    data = error.response.data
    return str(data.get("error") if isinstance(data, dict) else error.response.status_code)


def _client(access: SlackAccess) -> WebClient:
    from slack_sdk import WebClient
    from slack_sdk.http_retry.builtin_handlers import (
        ConnectionErrorRetryHandler,
        RateLimitErrorRetryHandler,
        ServerErrorRetryHandler,
    )

    handlers = [
        kind(max_retry_count=_TRIES)
        for kind in (ConnectionErrorRetryHandler, RateLimitErrorRetryHandler, ServerErrorRetryHandler)
    ]
    return WebClient(
        token=access.token, base_url=access.url or _PUBLIC, timeout=_TIMEOUT_SECONDS, retry_handlers=list(handlers)
    )


def _find_thread(client: WebClient, channel: str, subject: str) -> str | None:
    """Return the time stamp of the message that started the thread; None if there is no thread."""
    cursor = ""
    for _page in range(_MOST_PAGES):
        found = client.conversations_history(
            channel=channel, limit=_PAGE, cursor=cursor or None, include_all_metadata=True
        )
        for message in found.get("messages") or ():
            metadata: dict[str, Any] = message.get("metadata") or {}
            known = (metadata.get("event_payload") or {}).get("subject")
            if metadata.get("event_type") == _EVENT and known == subject:
                return str(message["ts"])
        cursor = str((found.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return None
    return None


def _start_thread(client: WebClient, channel: str, subject: str, title: str) -> str:
    metadata = {"event_type": _EVENT, "event_payload": {"subject": subject}}
    return str(client.chat_postMessage(channel=channel, text=title, metadata=metadata, unfurl_links=False)["ts"])
