module perflab/definitions/openshift-api

go 1.22

require github.com/openshift/api v0.0.0-20250602203052-b29811a290c7
