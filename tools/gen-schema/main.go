// SPDX-License-Identifier: Apache-2.0

// Reads the published Go types of Kubernetes and writes what the library needs of them: the schema
// tables, and objects to test them with. README.md describes how to call it.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

const usage = `usage: gen-schema tables [--check]
       gen-schema views [--check]
       gen-schema vectors [--check | --random COUNT --dir FOLDER]
       gen-schema wire [--check]
       gen-schema verify FILE...
       gen-schema patches [--count COUNT] [--seed SEED] PROGRAM`

// The root of the project, as seen from the folder of this tool.
var root = filepath.Join("..", "..")

func main() {
	args := os.Args[1:]
	switch {
	case len(args) >= 1 && args[0] == "tables":
		tables(args[1:])
	case len(args) >= 1 && args[0] == "views":
		views(args[1:])
	case len(args) >= 1 && args[0] == "vectors":
		vectors(args[1:])
	case len(args) >= 1 && args[0] == "wire":
		wire(args[1:])
	case len(args) >= 2 && args[0] == "patches":
		patches(args[1:])
	case len(args) >= 2 && args[0] == "verify":
		verify(args[1:])
	default:
		fail(usage)
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

// A file of the project that is generated.
type output struct {
	path string
	data []byte
}

// writeOutputs writes what has changed; or only tells, and fails.
func writeOutputs(outputs []output, check bool) {
	for _, output := range outputs {
		path := filepath.Join(root, output.path)
		old, err := os.ReadFile(path)
		if err == nil && bytes.Equal(old, output.data) {
			continue
		}
		if check {
			fail("not as generated: %s", output.path)
		}
		err = os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, output.data, 0o644)
		}
		if err != nil {
			fail("%v", err)
		}
	}
}
