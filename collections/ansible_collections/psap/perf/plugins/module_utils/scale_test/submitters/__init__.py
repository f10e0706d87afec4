"""Several submitting processes for one submission, so that one process does not limit the rate.

They communicate with the coordinator, the process that records, through files in one folder, with instants in UTC. The
files contain no secrets, and nothing else is shared, so that a process may run in a pod, to which the coordinator
mirrors the folder.

========================  ==============================================================================================
``plan.json``             by the coordinator: the workloads, their submitters, and their times after the start
``00/ready.json``         by each process: it has read the plan, rendered its workloads and reached the API server
``go.json``               by the coordinator, when all are ready: the instant at which the submission starts
``00/sending.jsonl``      by each process: an index and a time, written before the workload is sent
``00/submissions.jsonl``  by each process: a row for each answer; the coordinator gathers them in its own file
``00/progress.json``      by each process: counts, rewritten about twice a second
``stop``                  by the coordinator: send no more
``00/done.json``          by each process at its end: counts, and the reason of the end
``00/log.txt``            the standard error of each process
``00/clock.json``         by the coordinator: the offset of the clock of a process in a pod
========================  ==============================================================================================

Process *k* of *N* has the indices k, k + N, k + 2N …: names and due times follow from the index, so that no workload is
submitted twice, even if a process dies.
"""
