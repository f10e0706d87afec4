//go:build tools

// Package tools names the program that this module is for, so that go.mod keeps what it imports.
package tools

import _ "sigs.k8s.io/jobset"
