"""One question to a served model over gRPC, whose messages its proto file or its own reflection describes."""

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
    checked,
)

if TYPE_CHECKING:
    import grpc
    from google.protobuf.descriptor import MethodDescriptor
    from google.protobuf.descriptor_pool import DescriptorPool

_MODEL = "mm-model-id"
"""By which servers of several models know which one is called."""
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Question:
    """What is called, and how a prompt is said to it.

    :param method: ``package.Service/Method``, of one request and one answer.
    :param proto: the file that describes it; empty when the server does, by reflection.
    :param request: the message, in which ``{prompt}``, ``{model}`` and ``{tokens}`` stand for what is asked.
    :param answer: JMESPath of the answer that gives text, prompt_tokens and completion_tokens.
    """

    method: str
    proto: str
    request: Mapping[str, Any]
    answer: str


def filled(request: Any, words: Mapping[str, str | int]) -> Any:
    """*request* with the value of each text ``{word}`` that *words* have; a prompt may have braces itself."""
    if isinstance(request, Mapping):
        return {str(key): filled(value, words) for key, value in request.items()}
    if isinstance(request, list):
        return [filled(value, words) for value in request]
    if not isinstance(request, str):
        return request
    return words[request[1:-1]] if request[:1] + request[-1:] == "{}" and request[1:-1] in words else request


def answer_in(document: Mapping[str, Any], expression: str, place: str) -> Answer:
    """What *expression* finds in the answer of *place*.

    :raises AnswerError: when that is no answer.
    :raises UsageError: when it is not JMESPath.
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
            f"{place}: {expression} gives no text, prompt_tokens and completion_tokens of the answer: {shown}"
        ) from error
    return checked(answer, place, shown)


def said_of(status: str, details: str, place: str, question: Question, timeout_s: float) -> str:
    """The sentence of a status that is not OK."""
    if "CERTIFICATE_VERIFY_FAILED" in details:
        return f"{place}: its certificate is not trusted: {details[:_SHOWN]}"
    if status == "UNAVAILABLE":
        return f"{place} does not answer: {details[:_SHOWN]}"
    if status == "DEADLINE_EXCEEDED":
        return f"{place} did not answer within {timeout_s:g} s"
    if status == "UNIMPLEMENTED":
        return f"{place} has no {question.method}: {details[:_SHOWN]}"
    return f"{place} answers {status}: {details[:_SHOWN]}"


@contextmanager
def asking(endpoint: Endpoint, question: Question, caller: Caller) -> Iterator[Calling]:
    """Calls of a model, until the block ends.

    :raises UsageError: when the library, the proto file or the authority is of no use, or the address of gRPC.
    """
    if endpoint.path:
        raise UsageError(f"{endpoint.url} has a path, and calls of gRPC have none: ask it with protocol http")
    if "/" not in question.method:
        raise UsageError(f"method: {question.method!r} is none; write package.Service/Method")
    try:
        # heavy, and an extra
        import grpc
        import grpc_reflection
        import grpc_tools
    except ImportError as error:
        raise UsageError(
            "gRPC needs grpcio, grpcio-reflection and grpcio-tools: pip install 'psap-perf[grpc]', or pip install them"
        ) from error
    del grpc_reflection, grpc_tools
    timeout_s = caller.patience_s
    # of the reflection, too, which takes none from its caller
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
        yield Calling(channel, endpoint.shown, question, caller)


def _roots(authority: str) -> bytes | None:
    """The authorities that are trusted; None for those that gRPC brings, where the system has no file of them."""
    found = certificates(authority).get_ca_certs(binary_form=True)
    return "".join(map(ssl.DER_cert_to_PEM_cert, found)).encode() or None


class Calling:
    """A connection to a model, which learns at its first call how the messages look."""

    def __init__(self, channel: grpc.Channel, place: str, question: Question, caller: Caller) -> None:
        self._channel, self._place, self._question, self._caller = channel, place, question, caller
        self._method: MethodDescriptor | None = None

    def complete(self, model: str, prompt: str, tokens: int) -> Answer:
        """One answer.

        :raises AnswerError: when the call fails, or its answer is none.
        :raises UsageError: when the method is no such, or the request is none of it.
        """
        import grpc

        try:
            self._method = self._method or self._described()
            document = self._called(self._method, model, prompt, tokens)
        except grpc.RpcError as error:
            status, details = error.code().name, error.details() or ""
            raise AnswerError(said_of(status, details, self._place, self._question, self._caller.patience_s)) from error
        return answer_in(document, self._question.answer, self._place)

    def _called(self, method: MethodDescriptor, model: str, prompt: str, tokens: int) -> dict[str, Any]:
        from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
        from google.protobuf.message_factory import GetMessageClass

        words: dict[str, str | int] = {"model": model, "prompt": prompt, "tokens": tokens}
        asked, told = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
        try:
            request = ParseDict(filled(self._question.request, words), asked())
        except ParseError as error:
            raise UsageError(f"request: it is no {method.input_type.full_name}: {error}") from error
        call = self._channel.unary_unary(
            f"/{self._question.method}",
            request_serializer=asked.SerializeToString,
            response_deserializer=told.FromString,
        )
        # gRPC refuses capitals in the names of headers
        headers = tuple((name.lower(), value) for name, value in self._caller.headers.items())
        answer = call(request, timeout=self._caller.patience_s, metadata=((_MODEL, model), *headers))
        return MessageToDict(answer, always_print_fields_with_no_presence=True, preserving_proto_field_name=True)

    def _described(self) -> MethodDescriptor:
        import grpc

        service, _slash, name = self._question.method.partition("/")
        where = self._question.proto or f"the reflection of {self._place}"
        try:
            pool = compiled(Path(self._question.proto)) if self._question.proto else self._reflected()
            method = pool.FindServiceByName(service).FindMethodByName(name)
        except KeyError as error:
            raise UsageError(f"method: {where} describes no {self._question.method}") from error
        except grpc.RpcError as error:
            if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
                raise
            raise AnswerError(f"{self._place} has no reflection ({error.details()}): name its proto file") from error
        if method.client_streaming or method.server_streaming:
            raise UsageError(f"method: {self._question.method} is a stream; name one of one request and one answer")
        return method

    def _reflected(self) -> DescriptorPool:
        from google.protobuf.descriptor_pool import DescriptorPool
        from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

        return DescriptorPool(ProtoReflectionDescriptorDatabase(self._channel))


def compiled(proto: Path) -> DescriptorPool:
    """What a proto file and those that it imports from its folder describe.

    :raises UsageError: when it cannot be read.
    """
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "described"
        # it writes what is wrong to the output of its process
        words = [f"--proto_path={proto.parent}", "--include_imports", f"--descriptor_set_out={out}", str(proto)]
        done = subprocess.run(  # noqa: S603 - the file that the user named
            [sys.executable, "-m", "grpc_tools.protoc", *words], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise UsageError(f"proto: {proto} cannot be compiled: {done.stderr.strip()}")
        described = FileDescriptorSet.FromString(out.read_bytes())
    pool = DescriptorPool()
    for file in described.file:
        pool.Add(file)
    return pool
