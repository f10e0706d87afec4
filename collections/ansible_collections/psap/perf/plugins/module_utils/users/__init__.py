"""Users as pods: the plan of an indexed Job, the start of its users, their artifacts and their results.

Users and coordinator communicate through ConfigMaps of their namespace, so that a later process, such as a wait for
users that run without a driver, finds everything in the cluster. All objects have the label ``psap.perf/users``.

================  ======================================================================================================
``JOB-plan``      by the command: the plan, and the program that each pod runs
``JOB-start``     each pod watches it: ``go``, the instant of the start, by the coordinator; ``stop``, a reason, by the
                  coordinator or by a user that failed if its failure stops the others
``JOB-states``    by each pod, under its index: the times of setup, ready, launch and end, the exit code and the steps
``JOB-tokens``    a Secret, by the command, if users have dedicated service accounts: a token and a namespace for each
                  index, of which a pod mounts its own
================  ======================================================================================================

Pods read the API with a Role for these two ConfigMaps only. A second container keeps the artifacts of a pod until they
are fetched, also if the main container is killed, and sends them to an S3 store if the plan has one.
"""
