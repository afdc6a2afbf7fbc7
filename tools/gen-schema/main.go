// SPDX-License-Identifier: Apache-2.0

// Reads the published Go types of Kubernetes and writes what the library needs of them: the schema
// tables, and objects to test them with. README.md tells how to call it.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const usage = `usage: gen-schema tables [--check]`

// The root of the project, as seen from the folder of this tool.
var root = filepath.Join("..", "..")

func main() {
	args := os.Args[1:]
	switch {
	case len(args) >= 1 && args[0] == "tables":
		tables(args[1:])
	default:
		fail(usage)
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}
