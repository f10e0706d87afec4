"""One request to a served model over gRPC, with messages described by a proto file or by reflection."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jmespath
import jmespath.exceptions
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import (
    Answer,
    AnswerError,
    Caller,
    Endpoint,
    certificates,
    refuse_empty,
)

if TYPE_CHECKING:
    import grpc
    from google.protobuf.descriptor import MethodDescriptor
    from google.protobuf.descriptor_pool import DescriptorPool

_MODEL = "mm-model-id"
"""The header by which servers of several models select one."""
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Question:
    """The method to call, and its request with a prompt.

    Attributes:
        method: ``package.Service/Method``, with one request and one answer.
        proto: The file that describes it; empty to use the server's reflection.
        request: The message, with the placeholders ``{prompt}``, ``{model}`` and ``{tokens}``.
        answer: JMESPath that extracts text, prompt_tokens and completion_tokens from the answer.
    """

    method: str
    proto: str
    request: Mapping[str, Any]
    answer: str


def fill(request: Any, words: Mapping[str, str | int]) -> Any:
    """Return *request* with each text ``{word}`` replaced by its value in *words*; a prompt may have braces itself."""
    if isinstance(request, Mapping):
        return {str(key): fill(value, words) for key, value in request.items()}
    if isinstance(request, list):
        return [fill(value, words) for value in request]
    if not isinstance(request, str):
        return request
    return words[request[1:-1]] if request[:1] + request[-1:] == "{}" and request[1:-1] in words else request


def answer_in(document: Mapping[str, Any], expression: str, place: str) -> Answer:
    """Return what *expression* extracts from the answer of *place*.

    Raises:
        AnswerError: If the values do not form an answer.
        UsageError: If it is not JMESPath.
    """
    try:
        found = jmespath.search(expression, document)
    except jmespath.exceptions.JMESPathError as error:
        raise UsageError(f"answer: {expression!r} is not JMESPath: {error}") from error
    shown = json.dumps(document)[:_SHOWN]
    try:
        answer = Answer(str(found["text"]), int(found["prompt_tokens"]), int(found["completion_tokens"]))
    except (KeyError, TypeError, ValueError) as error:
        raise AnswerError(
            f"{place}: {expression} finds no text, prompt_tokens and completion_tokens in the answer: {shown}"
        ) from error
    return refuse_empty(answer, place, shown)


def status_error(status: str, details: str, place: str, question: Question, timeout_s: float) -> str:
    """Return a sentence about a status that is not OK."""
    if "CERTIFICATE_VERIFY_FAILED" in details:
        return f"{place}: its certificate is not trusted: {details[:_SHOWN]}"
    if status == "UNAVAILABLE":
        return f"{place} does not respond: {details[:_SHOWN]}"
    if status == "DEADLINE_EXCEEDED":
        return f"{place} did not respond within {timeout_s:g} s"
    if status == "UNIMPLEMENTED":
        return f"{place} has no {question.method}: {details[:_SHOWN]}"
    return f"{place} responds with {status}: {details[:_SHOWN]}"


@contextmanager
def connect(endpoint: Endpoint, question: Question, caller: Caller) -> Iterator[ModelConnection]:
    """Connect to a model, until the block ends.

    Raises:
        UsageError: If the library, the proto file or the authority cannot be used, or the address is not for gRPC.
    """
    if endpoint.path:
        raise UsageError(f"{endpoint.url} has a path, but gRPC calls have none; use protocol http")
    if "/" not in question.method:
        raise UsageError(f"method: invalid method {question.method!r}; write package.Service/Method")
    try:
        # slow to import, and an optional dependency
        import grpc
        import grpc_reflection
        import grpc_tools
    except ImportError as error:
        raise UsageError(
            "gRPC needs grpcio, grpcio-reflection and grpcio-tools: pip install 'psap-perf[grpc]', or pip install them"
        ) from error
    del grpc_reflection, grpc_tools
    timeout_s = caller.patience_s
    # also for the reflection, which accepts no timeout from its caller
    patience = {"methodConfig": [{"name": [{}], "timeout": f"{timeout_s:.3f}s"}]}
    options = [("grpc.service_config", json.dumps(patience))]
    if endpoint.server_name:
        options.append(("grpc.ssl_target_name_override", endpoint.server_name))
    target = f"{endpoint.host}:{endpoint.port}"
    if endpoint.scheme == "http":
        channel = grpc.insecure_channel(target, options)
    else:
        channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(_roots(caller.authority)), options)
    with channel:
        yield ModelConnection(channel, endpoint.shown, question, caller)


def _roots(authority: str) -> bytes | None:
    """Return the trusted authorities; None, for gRPC's own, if the system has no file of them."""
    found = certificates(authority).get_ca_certs(binary_form=True)
    return "".join(map(ssl.DER_cert_to_PEM_cert, found)).encode() or None


class ModelConnection:
    """A connection to a model; the first call reads the description of its messages."""

    def __init__(self, channel: grpc.Channel, place: str, question: Question, caller: Caller) -> None:
        self._channel, self._place, self._question, self._caller = channel, place, question, caller
        self._method: MethodDescriptor | None = None

    def complete(self, model: str, prompt: str, tokens: int) -> Answer:
        """Return one answer.

        Raises:
            AnswerError: If the call fails, or its answer is invalid.
            UsageError: If the method does not exist, or the request does not fit it.
        """
        import grpc

        try:
            self._method = self._method or self._find_method()
            document = self._call(self._method, model, prompt, tokens)
        except grpc.RpcError as error:
            status, details = error.code().name, error.details() or ""
            raise AnswerError(
                status_error(status, details, self._place, self._question, self._caller.patience_s)
            ) from error
        return answer_in(document, self._question.answer, self._place)

    def _call(self, method: MethodDescriptor, model: str, prompt: str, tokens: int) -> dict[str, Any]:
        from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
        from google.protobuf.message_factory import GetMessageClass

        words: dict[str, str | int] = {"model": model, "prompt": prompt, "tokens": tokens}
        request_type, answer_type = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
        try:
            request = ParseDict(fill(self._question.request, words), request_type())
        except ParseError as error:
            raise UsageError(f"request: not a valid {method.input_type.full_name}: {error}") from error
        call = self._channel.unary_unary(
            f"/{self._question.method}",
            request_serializer=request_type.SerializeToString,
            response_deserializer=answer_type.FromString,
        )
        # gRPC refuses capitals in the names of headers
        headers = tuple((name.lower(), value) for name, value in self._caller.headers.items())
        answer = call(request, timeout=self._caller.patience_s, metadata=((_MODEL, model), *headers))
        return MessageToDict(answer, always_print_fields_with_no_presence=True, preserving_proto_field_name=True)

    def _find_method(self) -> MethodDescriptor:
        import grpc

        service, _slash, name = self._question.method.partition("/")
        where = self._question.proto or f"the reflection of {self._place}"
        try:
            pool = compile_proto(Path(self._question.proto)) if self._question.proto else self._reflect()
            method = pool.FindServiceByName(service).FindMethodByName(name)
        except KeyError as error:
            raise UsageError(f"method: {where} does not describe {self._question.method}") from error
        except grpc.RpcError as error:
            if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
                raise
            raise AnswerError(f"{self._place} has no reflection ({error.details()}); pass its proto file") from error
        if method.client_streaming or method.server_streaming:
            raise UsageError(
                f"method: {self._question.method} is a stream; use a method with one request and one answer"
            )
        return method

    def _reflect(self) -> DescriptorPool:
        from google.protobuf.descriptor_pool import DescriptorPool
        from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

        return DescriptorPool(ProtoReflectionDescriptorDatabase(self._channel))


def compile_proto(proto: Path) -> DescriptorPool:
    """Return the descriptors of a proto file and of those that it imports from its folder.

    Raises:
        UsageError: If it cannot be compiled.
    """
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "descriptors"
        # in a process, because it prints its errors
        words = [f"--proto_path={proto.parent}", "--include_imports", f"--descriptor_set_out={out}", str(proto)]
        done = subprocess.run(  # noqa: S603 - the file that the user named
            [sys.executable, "-m", "grpc_tools.protoc", *words], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise UsageError(f"proto: cannot compile {proto}: {done.stderr.strip()}")
        described_files = FileDescriptorSet.FromString(out.read_bytes())
    pool = DescriptorPool()
    for file in described_files.file:
        pool.Add(file)
    return pool
