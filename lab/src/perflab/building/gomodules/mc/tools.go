//go:build tools

// Package tools pins the program that the lab builds from this module.
package tools

import _ "github.com/minio/mc"
