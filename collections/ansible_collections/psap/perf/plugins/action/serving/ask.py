# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds, utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain, write_json
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.cluster.port_forward import forwarded
from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import (
    Answer,
    AnswerError,
    Caller,
    Endpoint,
    complete,
    endpoint_of,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.forwarding import forwarding
from ansible_collections.psap.perf.plugins.module_utils.serving.grpc_client import Question, asking
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import poll_until
from ansible_collections.psap.perf.plugins.modules.serving.ask import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.serving import model_service, ready_pod
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait

# how exact the moment of the first answer is
_AGAIN_S = 0.2


class ActionModule(PerfAction):
    """Ask a served model."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say whom and how often."""
        return f"would ask {context.args['kind']} {context.args['name']} {len(context.args['prompts'])} times"

    def perform(self, context: VerbContext) -> VerbResult:
        """Ask, and keep what was said, also when an answer is wrong."""
        args = context.args
        model = args["model"] or args["name"]
        place = context.directory / "artifacts" / args["name"]
        place.mkdir(parents=True, exist_ok=True)
        api_key = context.secret(args["api_key"]) if args["api_key"] else ""
        caller = Caller(seconds(args["request_timeout"]), args["authority"], api_key)
        answers: list[dict[str, Any]] = []
        first_at = ""
        with _reached(args, context.cluster()) as (endpoint, problem):
            try:
                with _model(args, endpoint, model, caller) as answer:
                    ask = functools.partial(_asked, answer, problem)
                    for number, prompt in enumerate(args["prompts"]):
                        context.check_interrupted()
                        answers.append(ask(prompt) if number else self._first(context, lambda: ask(args["prompts"][0])))
                        first_at = first_at or utc_now()
            finally:
                told = {"schema": "psap.perf/answers/1", "url": endpoint.shown, "model": model, "answers": answers}
                write_json(place / "answers.json", told)
        return VerbResult(values={"url": endpoint.shown, "answers": len(answers), "first_at": first_at})

    def _first(self, context: VerbContext, ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The first answer, for which a new route may need a while."""
        found: list[dict[str, Any]] = []

        def look() -> tuple[bool, str]:
            try:
                found.append(ask())
            except AnswerError as error:
                return False, str(error)
            return True, ""

        timeout_s = seconds(context.args["timeout"])
        what = f"an answer of {context.args['kind']} {context.args['name']}"
        with shown_wait(context.command_directory(), what, timeout_s) as show:
            otherwise = f"there was no {what[3:]}"
            poll_until(
                look,
                otherwise,
                timeout_s,
                context.check_interrupted,
                show,
                pause_s=_AGAIN_S,
                longest_pause_s=_AGAIN_S,
            )
        return found[0]


@contextmanager
def _reached(args: Any, cluster: Cluster) -> Iterator[tuple[Endpoint, Callable[[], str]]]:
    """Where the model is asked, and what is known of a connection that failed."""
    kind, namespace, name, port = args["kind"], args["namespace"], args["name"], args["port_forward"]
    service = model_service(cluster, kind, namespace, name)
    if not port:
        yield endpoint_of(service, cluster.lab(), args["protocol"]), str
        return
    pod = ready_pod(cluster, kind, namespace, name)
    connect = functools.partial(forwarded, cluster.access, namespace, pod, port)
    # who may not is told at once
    with connect():
        pass
    with forwarding(connect) as here:
        endpoint = here.endpoint(args["tls_server_name"], f"port {port} of pod {namespace}/{pod}")
        yield endpoint, lambda: here.problem


def _asked(answer: Callable[[str], Answer], problem: Callable[[], str], prompt: str) -> dict[str, Any]:
    """A prompt with what was said to it.

    :raises AnswerError: with what is known of the connection, when that is why.
    """
    begun_s = time.monotonic()
    try:
        told = asdict(answer(prompt))
    except AnswerError as error:
        raise AnswerError(": ".join(filter(None, (str(error), problem())))) from error
    return {"prompt": prompt, **told, "took_s": round(time.monotonic() - begun_s, 6)}


@contextmanager
def _model(args: Any, endpoint: Endpoint, model: str, caller: Caller) -> Iterator[Callable[[str], Answer]]:
    """What answers a prompt, by either protocol."""
    if args["protocol"] == "http":
        yield lambda prompt: complete(endpoint, model, prompt, args["tokens"], caller)
        return
    question = Question(args["method"], args["proto"], plain(args["request"]), args["answer"])
    with asking(endpoint, question, caller) as calling:
        yield lambda prompt: calling.complete(model, prompt, args["tokens"])
