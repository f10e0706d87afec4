//go:build tools

package main

import _ "github.com/opencontainers/runc"
