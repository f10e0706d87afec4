//go:build tools

package main

import _ "github.com/kedacore/keda/v2/cmd/operator"
