"""Accounts of the stand-in: register, log in and out, and the check of every write."""

from __future__ import annotations

import base64
import json
import re
import secrets
from collections.abc import Mapping
from datetime import timedelta

from tests.standins.quads.answers import HTML, Answer, Refusal, access, json_answer, no_role, page
from tests.standins.quads.lab import Json, Lab

DISABLED = "disabled"


class Accounts:
    """Users, tokens, and permissions to write."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    def register(self, _words: tuple[str, ...], headers: Mapping[str, str], body: bytes | None) -> Answer:
        """Register an account; a missing key is unexpected, and ends with a 500."""
        given = self.body(headers, body)
        email, password = given["email"], given["password"]
        if not email or not password or not re.fullmatch(r"[^@\s]+@[^@\s]+\.\w+", email):
            return _failed("Email and password are required, and the email must be one.")
        if email in self.lab.users:
            return _failed("User already exists. Please Log in.")
        self.lab.users[email] = (password, "user")
        # it contains the user's number in place of the email that the check reads, so no request succeeds with it
        reply = {"status": "success", "status_code": 200, "message": "Successful registration", "auth_token": _token()}
        return json_answer(reply)

    def logout(self, _words: tuple[str, ...], headers: Mapping[str, str], _body: bytes | None) -> Answer:
        """Invalidate the token."""
        token = headers.get("authorization", "").partition(" ")[2]
        if not token:
            raise access("Provide a valid auth token.", 403)
        if self.lab.tokens.pop(token, None) is None:
            raise access("Invalid Authentication token!", 401)
        return json_answer({"status": "success", "message": "Successful logout"})

    def login(self, _words: tuple[str, ...], headers: Mapping[str, str], _body: bytes | None) -> Answer:
        user = self._basic(headers.get("authorization", ""))
        if user is None:
            return Answer(401, b"Unauthorized Access", HTML)
        token = _token()
        self.lab.tokens[token] = (user, self.lab.now() + timedelta(seconds=self.lab.settings.token_s))
        reply = {"auth_token": token, "message": "Successful login", "status": "success", "status_code": 201}
        return json_answer(reply)

    def _basic(self, header: str) -> str | None:
        try:
            user, _colon, password = base64.b64decode(header.partition(" ")[2]).decode().partition(":")
        except ValueError:
            return None
        known = self.lab.users.get(user)
        return user if known and known[0] == password else None

    def user(self, headers: Mapping[str, str], admin: bool = False) -> str:
        header = headers.get("authorization")
        if header is None:
            raise access("Missing authentication data", 400)
        scheme, _blank, rest = header.partition(" ")
        if not rest:
            raise access("Authorization header malformed", 400)
        if scheme == "Basic":
            user = self._basic(header)
            if user is None:
                raise access("Invalid Credentials!", 401)
        elif scheme == "Bearer":
            user, end = self.lab.tokens.get(rest, ("", self.lab.now()))
            if end <= self.lab.now():
                raise access("Invalid Authentication token!", 401)
        else:
            raise ValueError(scheme)
        role = self.lab.users[user][1]
        if role == DISABLED or (admin and role != "admin"):
            raise no_role()
        return user

    def body(self, headers: Mapping[str, str], body: bytes | None) -> Json:
        if headers.get("content-type") != "application/json":
            raise Refusal(page(400, "Bad Request"))
        try:
            return dict(json.loads(body or b""))
        except ValueError:
            raise Refusal(page(400, "Bad Request")) from None


def _token() -> str:
    return f"eyJhbGciOiJIUzI1NiJ9.{secrets.token_urlsafe(12)}.{secrets.token_urlsafe(16)}"


def _failed(message: str) -> Answer:
    return Answer(401, json.dumps({"status_code": 401, "status": "fail", "message": message}).encode(), HTML)
