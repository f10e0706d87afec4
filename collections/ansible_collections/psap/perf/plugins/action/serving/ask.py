# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.port_forward import forwarded
from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import (
    HTTP,
    Answer,
    AnswerError,
    Caller,
    Endpoint,
    complete,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.forwarding import forwarding
from ansible_collections.psap.perf.plugins.module_utils.serving.grpc.client import Question, connect
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import poll_until
from ansible_collections.psap.perf.plugins.modules.serving.ask import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.serving.models import (
    ModelArguments,
    model_endpoint,
    model_service,
    ready_pod,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait

# the resolution of the first answer's time
_AGAIN_S = 0.2


@dataclass(frozen=True, slots=True)
class Arguments(ModelArguments):
    model: str
    method: str
    proto: str
    request: Mapping[str, Any]
    answer: str
    prompts: tuple[str, ...]
    tokens: int
    port_forward: int
    tls_server_name: str
    authority: str
    api_key: str
    timeout: Seconds
    request_timeout: Seconds


class ActionModule(PerfAction):
    """Ask a served model."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the model and the number of prompts."""
        args = context.arguments(Arguments)
        return f"would ask {args.kind} {args.name} {len(args.prompts)} times"

    def perform(self, context: VerbContext) -> VerbResult:
        """Ask, and keep the answers, even if one is invalid."""
        args = context.arguments(Arguments)
        model = args.model or args.name
        place = context.directory / "artifacts" / args.name
        place.mkdir(parents=True, exist_ok=True)
        api_key = context.secret(args.api_key) if args.api_key else ""
        caller = Caller(args.request_timeout, args.authority, api_key)
        answers: list[dict[str, Any]] = []
        first_at = ""
        with _connect(args, context.cluster()) as (endpoint, problem):
            try:
                with _model(args, endpoint, model, caller) as answer:
                    ask = functools.partial(_ask, answer, problem)
                    for number, prompt in enumerate(args.prompts):
                        context.check_interrupted()
                        asked = functools.partial(ask, prompt)
                        answers.append(asked() if number else _ask_first(context, args, asked))
                        first_at = first_at or utc_now()
            finally:
                document = {"schema": "psap.perf/answers/1", "url": endpoint.shown, "model": model, "answers": answers}
                write_json(place / "answers.json", document)
        return VerbResult(values={"url": endpoint.shown, "answers": len(answers), "first_at": first_at})


def _ask_first(context: VerbContext, args: Arguments, ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the first answer, for which a new route may need some time."""
    found: list[dict[str, Any]] = []

    def look() -> tuple[bool, str]:
        try:
            found.append(ask())
        except AnswerError as error:
            return False, str(error)
        return True, ""

    what = f"answer of {args.kind} {args.name}"
    with shown_wait(context.command_directory(), f"an {what}", args.timeout) as show:
        poll_until(
            look,
            f"there was no {what}",
            args.timeout,
            context.check_interrupted,
            show,
            pause_s=_AGAIN_S,
            longest_pause_s=_AGAIN_S,
        )
    return found[0]


@contextmanager
def _connect(args: Arguments, cluster: Cluster) -> Iterator[tuple[Endpoint, Callable[[], str]]]:
    """Yield the model's endpoint, and a function that returns the reason of a failed connection, if known."""
    if not args.port_forward:
        yield model_endpoint(cluster, args), str
        return
    model_service(cluster, args)
    pod = ready_pod(cluster, args)
    connect = functools.partial(forwarded, cluster.access, args.namespace, pod, args.port_forward)
    # fail now if the user has no permission
    with connect():
        pass
    with forwarding(connect) as here:
        shown = f"port {args.port_forward} of pod {args.namespace}/{pod}"
        yield here.endpoint(args.tls_server_name, shown), lambda: here.problem


def _ask(answer: Callable[[str], Answer], problem: Callable[[], str], prompt: str) -> dict[str, Any]:
    """Return the prompt with its answer.

    Raises:
        AnswerError: If the answer is invalid; the message includes the connection's problem, if any.
    """
    begun_s = time.monotonic()
    try:
        found = asdict(answer(prompt))
    except AnswerError as error:
        raise AnswerError(": ".join(filter(None, (str(error), problem())))) from error
    return {"prompt": prompt, **found, "took_s": round(time.monotonic() - begun_s, 6)}


@contextmanager
def _model(args: Arguments, endpoint: Endpoint, model: str, caller: Caller) -> Iterator[Callable[[str], Answer]]:
    """Yield the function that answers a prompt, by either protocol."""
    if args.protocol == HTTP:
        yield lambda prompt: complete(endpoint, model, prompt, args.tokens, caller)
        return
    question = Question(args.method, args.proto, args.request, args.answer)
    with connect(endpoint, question, caller) as connection:
        yield lambda prompt: connection.complete(model, prompt, args.tokens)
