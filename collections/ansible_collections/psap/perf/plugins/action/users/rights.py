# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api import rights
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.rights import Right
from ansible_collections.psap.perf.plugins.module_utils.users.grants import (
    Account,
    account_manifest,
    grants,
    user_account,
)
from ansible_collections.psap.perf.plugins.modules.users.rights import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.role_rights import rules_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    namespace: str
    service_account: str
    rights: tuple[Mapping[str, Any], ...]
    user_rights: tuple[Mapping[str, Any], ...]
    user_count: int
    user_namespace_prefix: str


class ActionModule(PerfAction):
    """Return roles for service accounts."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Expand the rules."""
        args, cluster = context.arguments(Arguments), context.cluster()
        _check(args)
        shared = Account(args.namespace, args.service_account)
        users = [user_account(shared, index) for index in range(args.user_count)] if args.user_rights else []
        namespaces = [f"{args.user_namespace_prefix}{index}" for index in range(len(users))]
        manifests = [*map(account_manifest, users), *grants([shared, *users], _rights(args.rights, cluster), cluster)]
        for user, namespace in zip(users, namespaces, strict=True):
            own = [{**rule, "namespaces": [namespace]} for rule in args.user_rights]
            manifests += grants([user], _rights(own, cluster), cluster)
        return VerbResult(values={"manifests": manifests, "namespaces": namespaces})


def _rights(rules: Iterable[Mapping[str, Any]], cluster: Cluster) -> list[Right]:
    return rights.rights(rights.applicable(rules, cluster), rules_of)


def _check(args: Arguments) -> None:
    """Check the rules of users.

    Raises:
        UsageError: If they have namespaces, or the users have none.
    """
    if args.user_rights and not args.user_namespace_prefix:
        raise UsageError("user_rights are rights in the namespace of each user; pass user_namespace_prefix")
    if any("namespaces" in rule for rule in args.user_rights):
        raise UsageError("a rule of user_rights has no namespaces: it applies in the namespace of each user")
