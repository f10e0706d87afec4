"""The gRPC service of TGIS, which vLLM's adapter also serves, for declared models: whole answers and streams."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perflab.errors import ClusterError
from perflab.serving.servers import FAILS, MOST_TOKENS, WORD, NoPodError, Servers, Serving

if TYPE_CHECKING:
    import grpc.aio
    from google.protobuf.descriptor_pool import DescriptorPool

PROTO = Path(__file__).with_name("generation.proto")
SERVICE = "fmaas.GenerationService"


@asynccontextmanager
async def serve_tgis(servers: Servers, address: str) -> AsyncIterator[None]:
    """Return a server at *address* that answers for the pods of all models, and describes itself by reflection.

    A request goes to the pod with the fewest requests of those that serve its `model_id`.
    """
    # slow to import, and an optional dependency
    import grpc.aio
    from google.protobuf.message_factory import GetMessageClass
    from grpc_reflection.v1alpha import reflection

    pool = described()
    methods = pool.FindServiceByName(SERVICE).methods_by_name
    requests = {name: GetMessageClass(method.input_type).FromString for name, method in methods.items()}
    answers = {name: GetMessageClass(method.output_type) for name, method in methods.items()}
    generation = _Generation(servers, answers["Generate"], answers["GenerateStream"], grpc.StatusCode)
    handlers = {
        "Generate": grpc.unary_unary_rpc_method_handler(
            generation.generate, requests["Generate"], answers["Generate"].SerializeToString
        ),
        "GenerateStream": grpc.unary_stream_rpc_method_handler(
            generation.stream, requests["GenerateStream"], answers["GenerateStream"].SerializeToString
        ),
    }
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    reflection.enable_server_reflection((SERVICE, reflection.SERVICE_NAME), server, pool)
    server.add_insecure_port(address)
    await server.start()
    try:
        yield
    finally:
        await server.stop(grace=0)


class _Generation:
    """The methods.

    Args:
        answers: The message of a whole answer.
        part: The message of one answer in it, or of a part of a stream.
        status: The statuses of gRPC.
    """

    def __init__(self, servers: Servers, answers: Any, part: Any, status: type[grpc.StatusCode]) -> None:
        self._servers, self._answers, self._message, self._status = servers, answers, part, status

    async def generate(self, requests: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        """Answer all requests, one after the other."""
        parts = []
        for request in requests.requests:
            serving = await self._serving(requests.model_id, context)
            prompt, tokens = request.text.split(), _tokens(requests, serving)
            await self._until_it_ends(serving, serving.generate(prompt, tokens), context)
            parts.append(
                self._part(input_token_count=len(prompt), text=WORD * tokens, generated_token_count=tokens, ended=True)
            )
        return self._answers(responses=parts)

    async def stream(self, requests: Any, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        """Acknowledge the prompt, then send each token at its time."""
        serving = await self._serving(requests.model_id, context)
        prompt, tokens = requests.request.text.split(), _tokens(requests, serving)

        async def send(place: int) -> None:
            part = {"text": WORD, "tokens": [{"text": WORD}], "generated_token_count": place + 1}
            await context.write(self._part(**part, ended=place + 1 == tokens))

        await context.write(self._part(input_token_count=len(prompt)))
        await self._until_it_ends(serving, serving.generate(prompt, tokens, send), context)

    async def _serving(self, model: str, context: grpc.aio.ServicerContext[Any, Any]) -> Serving:
        try:
            serving = self._servers.choose("", model)
        except (NoPodError, KeyError):
            await context.abort(self._status.UNAVAILABLE, f"no pod serves {model!r}")
            raise
        if serving.fails():
            await context.abort(self._status.INTERNAL, FAILS)
        return serving

    async def _until_it_ends(
        self, serving: Serving, answering: Coroutine[Any, Any, int], context: grpc.aio.ServicerContext[Any, Any]
    ) -> None:
        try:
            await serving.answer(answering)
        except asyncio.CancelledError:
            if not context.cancelled():
                await context.abort(self._status.UNAVAILABLE, "the pod has ended")
            raise

    def _part(self, *, ended: bool = False, **part: Any) -> Any:
        return self._message(stop_reason="MAX_TOKENS" if ended else "NOT_FINISHED", **part)


def _tokens(requests: Any, serving: Serving) -> int:
    most: int = requests.params.stopping.max_new_tokens or serving.model.answer_tokens
    return min(most, MOST_TOKENS)


def described() -> DescriptorPool:
    """Return what the proto file describes."""
    import grpc_tools.protoc
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool

    with tempfile.NamedTemporaryFile() as out:
        words = ["protoc", f"--proto_path={PROTO.parent}", f"--descriptor_set_out={out.name}", str(PROTO)]
        if grpc_tools.protoc.main(words):
            raise ClusterError(f"cannot compile {PROTO}")
        described = FileDescriptorSet.FromString(Path(out.name).read_bytes())
    pool = DescriptorPool()
    for file in described.file:
        pool.Add(file)
    return pool
