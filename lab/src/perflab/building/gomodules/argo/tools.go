//go:build tools

package main

import _ "github.com/argoproj/argo-workflows/v3/cmd/argoexec/commands"
