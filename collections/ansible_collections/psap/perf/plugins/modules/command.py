# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: command
short_description: Open the artifact directory of a command
version_added: 0.1.0
description:
  - Creates C(nnn__<group>__<command>) below the run's directory, or below the including command, before the
    arguments of the command are checked.
  - The role C(psap.perf.command) calls it; a command depends on that role in its C(meta/main.yml).
  - Writes C(args.yml), C(command.txt) and C(status.json) there.
  - Refuses to open if the run was asked to stop, unless a finalizer is running.
  - Acquires the cluster's Lease for a command that changes the cluster, unless the run has it; C(clusters_lock)
    determines what happens if another run has it.
author: The psap.perf developers (@openshift-psap)
options:
  changes_cluster:
    description: Whether the command changes the cluster.
    type: bool
    default: true
"""

EXAMPLES = r"""
# meta/main.yml of a command
allow_duplicates: true
dependencies:
  - role: psap.perf.command
"""

RETURN = r"""
run_lease:
  description: Data with which the callback renews the cluster's Lease.
  type: dict
  returned: when the lease was taken
directory:
  description: The command's directory.
  type: str
  returned: success
id:
  description: Twelve digits, unique among the commands of all runs, for names on hosts.
  type: str
  returned: success
directories:
  description: The directories of this command and of those that include it, by role.
  type: dict
  returned: success
arguments:
  description:
    - The arguments of this command by their names without the role's, for a role that several commands include.
  type: dict
  returned: success
check_mode:
  description: Whether the command runs in check mode, also if only a task or a block sets C(check_mode).
  type: bool
  returned: success
"""
