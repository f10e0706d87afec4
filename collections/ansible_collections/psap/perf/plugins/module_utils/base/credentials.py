"""Find credentials that are not declared as secrets by their form, and hide them wherever text is written.

`perfanalysis/files/credentials.py` is a link to this file: no package imports another.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

HIDDEN = "(secret)"
_MOST_CARRIED = 1 << 16


@dataclass(frozen=True, slots=True)
class Form:
    """One form of credentials.

    Attributes:
        marks: A text without any of them has no such credentials; this search is fast.
        expression: Matches one; the group ``kept`` before it is kept.
        is_one: Decides whether a match is a credential, if its characters alone do not.
    """

    marks: tuple[str, ...]
    expression: re.Pattern[str]
    is_one: Callable[[str], bool] = lambda _found: True

    def hide(self, text: str, by: str) -> str:
        """Return *text* with *by* in place of every match."""
        if not any(mark in text for mark in self.marks):
            return text

        def shown(match: re.Match[str]) -> str:
            kept = match["kept"]
            return f"{kept}{by}" if self.is_one(match[0][len(kept) :]) else match[0]

        return self.expression.sub(shown, text)


def _is_login(encoded: str) -> bool:
    """Return whether it is ``user:password`` in base64, not a word with the same characters."""
    try:
        decoded = base64.b64decode(encoded.encode() + b"=" * (-len(encoded) % 4), validate=True)
        return ":" in decoded.decode()
    except ValueError:
        return False


def _form(marks: str, expression: str, is_one: Callable[[str], bool] = lambda _found: True) -> Form:
    return Form(tuple(marks.split()), re.compile(expression, re.ASCII), is_one)


# in JSON, in YAML, and in a JSON text inside either: quotes and line ends may have backslashes before them
_QUOTE = r"\\*[\"']?"
_END = r"(?:\\+[nr]|\s)"
_IN_URL = r"(?:[^/\s\"'<>\\?#]|\\\\)"
FORMS = (
    # the user too: a token is often given as the user
    _form("://", rf"(?P<kept>://)(?:{_IN_URL}{{0,256}}:{_IN_URL}{{1,512}}|{_IN_URL}{{16,512}})(?=@)"),
    _form(
        "earer EARER",
        rf"(?P<kept>(?i:bearer)(?:{_END}|%20)+)(?:(?=[\w.~+/-]*\d)[\w.~+/-]{{8,}}|[\w.~+/-]{{20,}})=*",
    ),
    _form("asic BASIC", rf"(?P<kept>(?i:basic)(?:{_END}|%20)+)[A-Za-z0-9+/]{{8,}}={{0,2}}", _is_login),
    # JSON Web Tokens, signed or encrypted
    _form("eyJ", r"(?P<kept>)(?<![A-Za-z0-9])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)*"),
    _form("sha256~", r"(?P<kept>)sha256~[\w-]{20,}"),
    _form("AKIA ASIA", r"(?P<kept>)(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9])"),
    # AWS, by name: the secret key, the session token
    _form(
        "ecretKey ecretAccessKey ecret_key ecret_access_key ECRET_ACCESS_KEY essionToken ession_token ESSION_TOKEN",
        r"(?P<kept>(?i:secret_?(?:access_?)?key|session_?token)(?:\\++[nrt]?|[\s\"',:={}]|value){1,40})"
        r"[A-Za-z0-9/+]{40,}={0,2}",
    ),
    _form(
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- hf_",
        r"(?P<kept>)(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|hf_[A-Za-z0-9]{20,})",
    ),
    # pull secrets: in plain text, and entirely in base64, in which "auths" has three forms
    _form("auth", rf"(?P<kept>(?<![\w-])auth{_QUOTE}\s*[:=]\s*{_QUOTE})[A-Za-z0-9+/]{{8,}}={{0,2}}", _is_login),
    _form("YXV0aH F1dGhz hdXRoc", r"(?P<kept>)(?<![\w+/])e[\w+/]{1,24}(?:YXV0aH|F1dGhz|hdXRoc)[\w+/]{8,}={0,2}"),
    _form(
        "assword asswd itytoken rytoken",
        r"(?P<kept>\\*\"(?i:password|passwd|identitytoken|registrytoken)\\*\"\s*:\s*\\*\")"
        r"(?!(?:file|env|vault):|\(s)(?:[^\"\\]|\\[^\"])+",
    ),
    # private keys, complete or without their end; also in base64, if they are neither certificates nor public keys
    _form(
        "PRIVATE",
        rf"(?P<kept>)-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^\"']{{0,20000}}?-----END [A-Z ]*PRIVATE KEY-----"
        rf"|(?:{_END}*[A-Za-z0-9+/=]{{16,}})*)",
    ),
    _form("LS0tLS1CRUdJTi", r"(?P<kept>)LS0tLS1CRUdJTi(?!BDRVJUSUZJ|BQVUJMSUMg)[\w+/]{16,}={0,2}"),
)


def hide(text: str, by: str = HIDDEN) -> str:
    """Return *text* with *by* in place of everything that has the form of a credential."""
    for form in FORMS:
        text = form.hide(text, by)
    return text


def hide_in_stream(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a file with its credentials hidden, as `hide`, in whole lines and whole private keys.

    Args:
        pieces: The content of the file, which may be larger than the memory.
    """
    carried = b""
    for piece in pieces:
        carried += piece
        end = carried.rfind(b"\n") + 1
        key = carried.rfind(b"-----BEGIN ")
        if 0 <= key < end and b"-----END " not in carried[key:end]:
            end = key
        if end <= 0 and len(carried) > _MOST_CARRIED:
            end = len(carried)
        yield _hidden_bytes(carried[:end])
        carried = carried[end:]
    yield _hidden_bytes(carried)


def _hidden_bytes(content: bytes) -> bytes:
    # latin-1 has a character for each byte
    return hide(content.decode("latin-1")).encode("latin-1")
