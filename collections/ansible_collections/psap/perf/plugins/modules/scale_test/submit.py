# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: submit
short_description: Submit many workloads and record their state transitions
version_added: 0.1.0
description:
  - Renders a template into workloads and submits them by one process or I(submitters). Its recorder is in sync with the
    cluster before the first is sent, and ends when the last has ended.
  - Every workload is accounted for. The task fails with exit code 5 when one was lost or the accounts disagree, with
    130 when the run is stopped, with 1 when time is up or more failed than allowed. The files in C(artifacts/) of the
    command are complete in every case, and readable up to that moment after a kill.
  - A lost answer, a 429, a 5xx and a broken connection are tried again; names follow from the run and the index, so
    that nothing is submitted twice.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.metrics]
options:
  template:
    description:
      - A Jinja2 template of one Kubernetes object, in the role's C(templates/) or a path. It sees the I(variables) and
        C(name), C(index), C(namespace), C(pods), C(duration_s), C(priority_class), C(openshift). Name,
        namespace and labels are put in by the verb.
    type: str
    required: true
  variables:
    description: What the template sees beside that.
    type: dict
    default: {}
  patch:
    description:
      - Put over what the template renders. Dictionaries merge by key, null takes a key away, lists of things with a
        name merge by the name; everything else replaces what was there.
    type: dict
    default: {}
  namespace:
    description: Where the workloads are made; it is made when missing.
    type: str
    required: true
  tenants:
    description: Namespaces and queues among which the workloads are spread by weight; none is all to I(namespace).
    type: list
    elements: dict
    default: []
    suboptions:
      namespace:
        description: A namespace, made when missing; I(namespace) if not given.
        type: str
        default: ''
      queue:
        description: A LocalQueue of Kueue in it; that of I(variables) if not given.
        type: str
        default: ''
      weight:
        description: Its share, beside the others' weights.
        type: int
        default: 1
      quota:
        description:
          - GPUs that may be in use in the queue at one time. The queue is made for the test with this quota, and
            removed; without it, the queue must be there.
        type: int
      cohort:
        description:
          - Name of a cohort that the queue joins, made for the test as well. Its queues lend each other the quota that
            they do not use, and take it back by preemption.
        type: str
        default: ''
  priorities:
    description: PriorityClasses among which each tenant's workloads are spread by weight; made for this and removed.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: What it is called here; the PriorityClass's name begins with the submission's.
        type: str
        required: true
      value:
        description: Its value; a higher one goes first, and may preempt lower ones.
        type: int
        required: true
      weight:
        description: Its share, beside the others' weights.
        type: int
        default: 1
  gang:
    description:
      - Whether all pods of a workload start together or not at all, by a pod group beside each workload. Refused on a
        cluster that has no pod groups.
    type: bool
    default: false
  count:
    description: How many workloads.
    type: int
    required: true
  pods:
    description: Pods of each workload.
    type: int
    default: 1
  duration:
    description: How long a pod runs, in seconds or like V(2m).
    type: str
    default: 1s
  connections:
    description:
      - How many workloads may be on their way to the API server at one time; V(0) for as many as it takes, from 1 to
        128 for each submitter.
    type: int
    default: 0
  submitters:
    description:
      - How many processes submit, each its share of the workloads over its share of the I(connections). They begin
        together; C(artifacts/submitters/) holds what they tell each other.
    type: int
    default: 1
  arrivals:
    description: When each workload is due. Nothing given is as fast as the connections carry them.
    type: dict
    suboptions:
      rate:
        description: Workloads a second; V(0) is as fast as the connections carry them.
        type: float
        default: 0.0
      burst:
        description: How many go at once before the rate holds; a bucket of so many tokens that fills at the rate.
        type: int
        default: 1
      spacing:
        description: Whether workloads come at even distances, or as independent users send them.
        type: str
        choices: [even, poisson]
        default: even
      seed:
        description: Seed of the random distances; the same seed gives the same arrivals.
        type: int
        default: 0
      batch_delay:
        description: From the beginning of one batch of I(connections) workloads, 1 or more, to that of the next.
        type: str
        default: 0s
      phases:
        description: Phases in which the rate goes in a straight line, instead of one rate; the last rate lasts on.
        type: list
        elements: dict
        default: []
        suboptions:
          duration:
            description: How long it lasts, in seconds or like V(2m).
            type: str
            required: true
          to:
            description: Workloads a second at its end.
            type: float
            required: true
          from:
            description: Workloads a second at its beginning; those at the end of the phase before (V(0) for the first).
            type: float
      trace:
        description:
          - A CSV file with a row for each workload in the order in which they come, in the role's C(files/) or a path.
            Its column C(time_s) is in seconds after the beginning; C(kind), C(gpus) and C(duration) are as the others
            have them where the column is left out or empty. Only the first I(count) rows are used.
        type: str
        default: ''
  churn:
    description: Rounds in which the oldest workloads are deleted and new ones take their places.
    type: dict
    suboptions:
      percent:
        description: Share of I(count) that a round replaces, in percent; V(0) is no churn.
        type: float
        default: 0.0
      period:
        description: From the last answer to a first workload to the first round, and from round to round.
        type: str
        default: 10s
      rounds:
        description: How many rounds there are.
        type: int
        default: 1
  timeout:
    description: When to end although not all workloads have, in seconds or like V(10m).
    type: str
    default: 10m
  max_failed:
    description: How many workloads may fail before the task does; V(-1) for any number.
    type: int
    default: 0
"""

EXAMPLES = r"""
- name: Submit a hundred Jobs
  psap.perf.scale_test.submit:
    template: job.yml.j2
    namespace: scale
    count: 100
    variables: {image: "registry.example/sleeper:1", gpus: 1, cpu: 50m, memory: 32Mi, node_selector: {},
                tolerations: [], run_as_user: 1000, queue: ""}
    patch: {spec: {ttlSecondsAfterFinished: 600}}
"""

RETURN = r"""
accounting:
  description: What became of the workloads, by number and cause.
  type: dict
  returned: always
ended_by:
  description: C(condition), C(timeout) or C(stop).
  type: str
  returned: always
seconds:
  description: From the start of the recording to its end.
  type: float
  returned: always
"""
