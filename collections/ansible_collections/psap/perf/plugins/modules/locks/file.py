# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: file
short_description: Lock a host by a file
version_added: 0.1.0
description:
  - Takes, extends, shows or ends the lock in a folder of the host, for machines without Kubernetes. It runs on that
    host, whose clock decides; the verbs M(psap.perf.locks.take) and M(psap.perf.locks.release) call it.
  - A waiting requester has a place in a queue, which expires after 60 seconds without a renewal.
author: The psap.perf developers (@openshift-psap)
options:
  folder:
    description: Folder of the lock; created if missing. Users who may write to it may take and break the lock.
    type: path
    required: true
  state:
    description:
      - V(present) takes the lock or extends it, V(renewed) extends the lock and fails if the owner does not have it,
        V(absent) ends the lock of the owner, V(left) leaves the queue, V(broken) ends the lock of any owner, V(read)
        changes nothing.
    type: str
    choices: [present, renewed, absent, left, broken, read]
    default: read
  who:
    description: The requester; its owner is enough for V(renewed) and V(absent).
    type: dict
    suboptions:
      owner:
        description: Owner of the lock.
        type: str
        required: true
      run:
        description: Identifies the requester, and its place in the queue.
        type: str
        default: ""
      what:
        description: Purpose of the lock.
        type: str
        default: ""
      user:
        description: User of the requester.
        type: str
        default: ""
      host:
        description: Machine of the requester.
        type: str
        default: ""
  duration_s:
    description: How long the lock lasts, from now on.
    type: float
    default: 60.0
  wait_s:
    description: How long to wait in the queue.
    type: float
    default: 0.0
  stays:
    description: Whether to keep the place in the queue, because the next call follows within a minute.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Show who has the bastion
  psap.perf.locks.file:
    folder: /var/lib/psap-perf/bastion
"""

RETURN = r"""
locked:
  description: Whether the owner has the lock.
  type: bool
  returned: success
state_text:
  description: Who has the lock, and who is ahead in the queue.
  type: str
  returned: success
lock:
  description: The holder and the queue; for V(broken), the former ones.
  type: dict
  returned: success
"""

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock.file_lock import FileLock
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock.state import Requester, State

_NO_REQUESTER = {"owner": "", "run": "", "what": "", "user": "", "host": ""}


def main() -> None:
    """Run the module."""
    spec = {
        "folder": {"type": "path", "required": True},
        "state": {
            "type": "str",
            "choices": ["present", "renewed", "absent", "left", "broken", "read"],
            "default": "read",
        },
        "who": {
            "type": "dict",
            "options": {
                "owner": {"type": "str", "required": True},
                **{name: {"type": "str", "default": ""} for name in ("run", "what", "user", "host")},
            },
        },
        "duration_s": {"type": "float", "default": 60.0},
        "wait_s": {"type": "float", "default": 0.0},
        "stays": {"type": "bool", "default": False},
    }
    needing = [("state", state, ("who",)) for state in ("present", "renewed", "absent", "left")]
    module = AnsibleModule(argument_spec=spec, required_if=needing, supports_check_mode=True)
    who = Requester(**(module.params["who"] or _NO_REQUESTER))
    try:
        lock = FileLock(Path(module.params["folder"]))
        state, changed = (_predict if module.check_mode else _change)(lock, who, module)
    except PerfError as error:
        module.fail_json(msg=str(error), exit_code=error.exit_code, error_kind=type(error).__name__)
    locked = state.holder is not None and state.holder.who.owner == who.owner
    module.exit_json(changed=changed, locked=locked, state_text=state.describe(who), lock=state.document())


def _change(lock: FileLock, who: Requester, module: AnsibleModule) -> tuple[State, bool]:
    wanted, duration_s = module.params["state"], module.params["duration_s"]
    if wanted == "present":
        return lock.take(who, duration_s, module.params["wait_s"], stays=module.params["stays"])
    if wanted == "renewed":
        return lock.renew(who.owner), True
    if wanted == "absent":
        changed = lock.release(who.owner)
        return lock.read(), changed
    if wanted == "left":
        lock.leave(who)
        return lock.read(), True
    if wanted == "broken":
        before = lock.break_lock()
        return before, before.holder is not None
    return lock.read(), False


def _predict(lock: FileLock, who: Requester, module: AnsibleModule) -> tuple[State, bool]:
    """Return the state, and whether it would change."""
    state, wanted = lock.read(), module.params["state"]
    ours = state.holder is not None and state.holder.who.owner == who.owner
    changes = {
        "present": not state.in_the_way(who),
        "renewed": ours,
        "absent": ours,
        "broken": state.holder is not None,
    }
    return state, changes.get(wanted, False)


if __name__ == "__main__":
    main()
