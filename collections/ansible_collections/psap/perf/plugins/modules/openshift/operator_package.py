# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: operator_package
short_description: Choose an operator's channel and version from its PackageManifest
version_added: 0.1.0
description:
  - Reads the PackageManifest, and refuses what the catalog does not have; the error lists what it has.
  - In check mode a catalog or a package that is not there is taken for one that an earlier command is to make.
author: The psap.perf developers
options:
  name:
    description: Name of the package.
    type: str
    required: true
  catalog:
    description: Name of the CatalogSource.
    type: str
    required: true
  catalog_namespace:
    description: Where the CatalogSource is.
    type: str
    default: openshift-marketplace
  channel:
    description: Channel; empty for the package's default, V(?) for an error that lists all.
    type: str
    default: ""
  version:
    description: Version; empty for the newest of the channel.
    type: str
    default: ""
  csv_base_name:
    description: What the names of the versions begin with, where that is not the package's name.
    type: str
    default: ""
  install_mode:
    description: How the operator is to watch namespaces; one that it does not support is refused.
    type: str
    choices: [OwnNamespace, SingleNamespace, MultiNamespace, AllNamespaces]
    required: true
"""

EXAMPLES = r"""
- name: Choose the version
  psap.perf.openshift.operator_package:
    name: nfd
    catalog: redhat-operators
    install_mode: OwnNamespace
  register: __cluster_deploy_operator_package
"""

RETURN = r"""
channel:
  description: The channel; empty in check mode when there is no such package.
  type: str
  returned: success
csv:
  description: The name of the ClusterServiceVersion; empty in check mode when there is no such package.
  type: str
  returned: success
version:
  description: Its version; empty when the catalog does not tell.
  type: str
  returned: success
newest:
  description: The name of the newest ClusterServiceVersion of the channel, to which OLM upgrades.
  type: str
  returned: success
"""
