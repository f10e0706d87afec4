//go:build tools

// Package tools pins the program that tests build from this module.
package tools

import _ "github.com/versity/versitygw/cmd/versitygw"
