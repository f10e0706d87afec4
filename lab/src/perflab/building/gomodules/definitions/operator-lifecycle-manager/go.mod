module perflab/definitions/operator-lifecycle-manager

go 1.22

require github.com/operator-framework/operator-lifecycle-manager v0.28.0
