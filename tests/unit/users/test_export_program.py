"""The program that sends the artifacts of a user to an S3 store."""

from __future__ import annotations

from pathlib import Path

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest

from tests.programs import ROLES, loaded


def test_request_is_signed_like_botocore_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = loaded(ROLES / "shared_local_ci_users/files/export.py")
    monkeypatch.setattr(program, "STORE", tmp_path / "store")
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "access-key-id").write_text("someone\n")
    (tmp_path / "store" / "secret-access-key").write_text("a-secret\n")
    bucket = program.Bucket({"endpoint": "https://s3.example.org:9000", "region": "eu-west-1", "bucket": "runs"})
    target, digest = "/runs/ci/user-1/a%20file~1.txt", "0" * 64
    headers = bucket._signed("POST", target, "partNumber=2&uploadId=a%2Fb", digest)

    request = botocore.awsrequest.AWSRequest("POST", f"https://s3.example.org:9000{target}?partNumber=2&uploadId=a%2Fb")
    request.headers["X-Amz-Content-SHA256"] = digest
    request.context["timestamp"] = headers["x-amz-date"]
    credentials = botocore.credentials.Credentials("someone", "a-secret")
    auth = botocore.auth.S3SigV4Auth(credentials, "s3", "eu-west-1")
    request.headers["X-Amz-Date"] = headers["x-amz-date"]
    wanted = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    assert headers["Authorization"].endswith(f"Signature={wanted}")
