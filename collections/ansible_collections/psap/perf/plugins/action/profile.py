# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import functools
import ssl
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.port_forward import forwarded
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import configured
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab
from ansible_collections.psap.perf.plugins.module_utils.profiling.background import detach
from ansible_collections.psap.perf.plugins.module_utils.profiling.components import selections
from ansible_collections.psap.perf.plugins.module_utils.profiling.fetching import (
    ProfileFetcher,
    fetch_all,
    targets_of,
)
from ansible_collections.psap.perf.plugins.module_utils.profiling.results import (
    FAILURE_FILE,
    check_profiles,
    write_profiles,
)
from ansible_collections.psap.perf.plugins.module_utils.profiling.server import ApiServer
from ansible_collections.psap.perf.plugins.modules.profile import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult

_TOKEN_S = 3600
_CONTROL_PLANE = "control plane"


@dataclass(frozen=True, slots=True)
class Arguments:
    components: tuple[str, ...]
    profiles: tuple[str, ...]
    duration: Seconds
    kueue_port: int
    service_account: str
    timeout: Seconds
    wait: bool


class ActionModule(CommandAction):
    """Fetch profiles."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Fetch every profile, and keep it; then fail if one is missing. In the background, only begin."""
        args, cluster = context.arguments(Arguments), context.cluster()
        if not args.components or not args.profiles:
            raise UsageError("nothing to profile: name at least one component and one profile")
        targets, absent = targets_of(cluster, args.components, args.profiles, selections(args.kueue_port))
        if context.check_mode:
            would = f"check mode: would fetch {len(targets)} profiles"
            return VerbResult(values={"profiles": [], "directory": ""}, skipped=would)
        identity = _identity(context, args.service_account) if any(each.pod for each in targets) else _none
        connect = functools.partial(forwarded, cluster.access)
        lab, artifacts = context.lab(), context.directory / "artifacts"

        def fetch(check: Callable[[], None]) -> dict[str, Any]:
            with closing(ApiServer(cluster.access, check)) as server:
                fetcher = ProfileFetcher(server, connect, identity, args.duration, args.timeout)
                fetched = fetch_all(fetcher, targets, check)
            return write_profiles(artifacts, fetched, absent, Lab(lab.name, real=(_CONTROL_PLANE,)) if lab else None)

        if args.wait:
            document = fetch(context.check_interrupted)
            check_profiles(document)
            return VerbResult(values={"profiles": document["profiles"], "directory": str(context.directory)})
        detach(lambda: _fetch_in_background(fetch, artifacts))
        return VerbResult(values={"profiles": [], "directory": str(context.directory)})


def _fetch_in_background(fetch: Callable[[Callable[[], None]], dict[str, Any]], artifacts: Path) -> None:
    """Fetch, and write the reason if that is impossible."""
    try:
        fetch(lambda: None)
    except Exception as error:
        write_text(artifacts / FAILURE_FILE, f"{error or type(error).__name__}\n")


def _none() -> tuple[ssl.SSLContext, Mapping[str, str]]:
    raise UsageError("no profile needs credentials")


def _identity(context: VerbContext, service_account: str) -> Callable[[], tuple[ssl.SSLContext, Mapping[str, str]]]:
    """Return what authenticates the user. The API server connects to the pod, whose certificate names no host."""
    cluster = context.cluster()
    tls = ssl.create_default_context()
    tls.check_hostname = False
    tls.verify_mode = ssl.CERT_NONE
    headers = {}
    if service_account:
        namespace, slash, name = service_account.partition("/")
        if not slash or not name:
            raise UsageError(f"invalid service account {service_account!r}: write namespace/name")
        token = cluster.service_account_token(namespace, name, _TOKEN_S)
        context.redactor.add(token)
        headers["Authorization"] = f"Bearer {token}"
    else:
        with configured(cluster.access, context.check_interrupted) as configuration:
            if not configuration.cert_file:
                raise UsageError(
                    "the kubeconfig has no client certificate; set service_account to one that may get /debug/pprof/*"
                )
            tls.load_cert_chain(configuration.cert_file, configuration.key_file)
    return lambda: (tls, headers)
