"""Invented credentials of every form that is hidden, each with the parts of it that must not appear anywhere."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Planted:
    """A text with a credential, and the secret parts of it."""

    text: str
    secret: tuple[str, ...]


def _itself(text: str) -> Planted:
    return Planted(text, (text,))


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _private_key(kind: str, letter: str) -> Planted:
    lines = [f"MII{letter * 30}{number:030d}" for number in range(4)]
    text = "\n".join((f"-----BEGIN {kind}-----", *lines, f"last{letter}==", f"-----END {kind}-----"))
    return Planted(text, (*lines, f"last{letter}=="))


_PULL_SECRET = {"auths": {"quay.io": {"auth": _encoded("robot:planted-pull-word"), "email": "a@example.com"}}}
_SIGNED = "planted2lbnR5LXR3byBsZXR0ZXJz"
_TOKEN = f"eyJhbGciOiJSUzI1NiIsImtpZCI6InBsYW50ZWQifQ.eyJzdWIiOiJwbGFudGVkIn0.{_SIGNED}"
_GITHUB = "ghp_plantedPLANTED0123456789abcdefABCDEF"

PLANTED = {
    "a URL": Planted("https://robot:planted-url-word@mirror.example.com/x", ("planted-url-word",)),
    "a URL with a port and odd letters": Planted("http://a:plan%2Fted!$&*w0rd@h:8080", ("ted!$&*w0rd",)),
    "a URL with an at in it": Planted("https://a:planted@at-word@h/", ("planted@at", "at-word")),
    "a URL with a token for a user": Planted("https://planted0token0of0a0user@git.example.com", ("planted0token",)),
    "a proxy": Planted("socks5://planteduser:plantedword5@10.0.0.1:1080", ("plantedword5",)),
    "bearer": Planted("Authorization: Bearer planted-opaque-0123456789", ("planted-opaque",)),
    "bearer in small letters": Planted("authorization=bearer plantedopaque9", ("plantedopaque9",)),
    "bearer of letters only": Planted("Bearer plantedplantedplantedplanted", ("plantedplanted",)),
    "basic": Planted(f"Authorization: Basic {_encoded('me:planted-basic-word')}", (_encoded("me:planted-basic-word"),)),
    "a JSON Web Token": Planted(_TOKEN, (_SIGNED, "eyJzdWIiOiJwbGFudGVkIn0")),
    "one cut off": Planted(_TOKEN[:70], (_TOKEN[20:60],)),
    "OpenShift": _itself("sha256~planted-0123456789abcdefghijklmnopqrs"),
    "an AWS key": _itself("AKIAPLANTEDPLANTEDX1"),
    "a passing AWS key": _itself("ASIAPLANTEDPLANTEDX2"),
    "an AWS secret key": Planted(f"aws_secret_access_key = planted/{'k' * 30}+9", (f"planted/{'k' * 30}",)),
    "one in the environment": Planted(f"AWS_SECRET_ACCESS_KEY={'p' * 39}7", ("p" * 39,)),
    "one in JSON": Planted(json.dumps({"SecretAccessKey": f"planted+{'m' * 32}"}), (f"planted+{'m' * 32}",)),
    "the token of an AWS session": Planted(f"AWS_SESSION_TOKEN={'Planted/' * 20}==", ("Planted/Planted/",)),
    "GitHub": _itself(_GITHUB),
    "GitHub in a URL": Planted(f"https://x:{_GITHUB}@github.com/a/b.git", (_GITHUB,)),
    "GitHub, fine-grained": _itself("github_pat_11PLANTED0123456789_abcdefghijklmnopqrstuvwxyz"),
    "GitLab": _itself("glpat-planted-0123456789abc"),
    "Hugging Face": _itself("hf_plantedplantedplantedplanted"),
    "a pull secret": Planted(json.dumps(_PULL_SECRET), (_encoded("robot:planted-pull-word"),)),
    "a pull secret in lines": Planted(json.dumps(_PULL_SECRET, indent=2), (_encoded("robot:planted-pull-word"),)),
    "a pull secret in base64": _itself(_encoded(json.dumps(_PULL_SECRET))),
    "one in lines in base64": _itself(_encoded(json.dumps(_PULL_SECRET, indent=4))),
    "a registry's password": Planted(json.dumps({"password": "planted-json-word"}), ("planted-json",)),
    "a private key": _private_key("PRIVATE KEY", "a"),
    "an RSA private key": _private_key("RSA PRIVATE KEY", "b"),
    "one of OpenSSH": _private_key("OPENSSH PRIVATE KEY", "c"),
    "a private key in base64": _itself(_encoded(_private_key("EC PRIVATE KEY", "d").text)),
}
