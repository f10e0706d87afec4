# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Manifest, Query
from ansible_collections.psap.perf.plugins.module_utils.openshift.operator_packages import (
    Wish,
    choose,
    unsupported_mode,
)
from ansible_collections.psap.perf.plugins.modules.openshift.operator_package import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec

_API_VERSION, _KIND = "packages.operators.coreos.com/v1", "PackageManifest"


class ActionModule(PerfAction):
    """Choose what a Subscription is to ask for."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Read the package, and find the version in it."""
        args = context.args
        package = _package(context)
        if package is None:
            what = f"the package {args['name']} of the catalog {args['catalog_namespace']}/{args['catalog']}"
            if not context.check_mode:
                raise ClusterError(f"there is no {what.removeprefix('the ')}; is that the right catalog?")
            return VerbResult(
                values=dict.fromkeys(("channel", "csv", "version", "newest"), ""),
                skipped=f"check mode: would choose a version of {what}, which is not there",
            )
        choice = choose(package, Wish(args["channel"], args["version"], args["csv_base_name"]))
        refused = unsupported_mode(package, choice.channel, args["install_mode"])
        if refused:
            raise UsageError(refused)
        newest = choose(package, Wish(choice.channel)).csv
        return VerbResult(
            values={"channel": choice.channel, "csv": choice.csv, "version": choice.version, "newest": newest}
        )


def _package(context: VerbContext) -> Manifest | None:
    """By its label, since a namespace shows the packages of all global catalogs, of which two may have the name."""
    args = context.args
    cluster = context.cluster()
    if context.check_mode and not cluster.serves(_API_VERSION, _KIND):
        return None
    labels = f"catalog={args['catalog']},catalog-namespace={args['catalog_namespace']}"
    query = Query(_API_VERSION, _KIND, namespace=args["catalog_namespace"], name=args["name"], label_selector=labels)
    found, _version = cluster.list(query)
    return found[0] if found else None
