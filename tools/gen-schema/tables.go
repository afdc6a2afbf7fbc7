// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
)

const columns = 100

// The names that the library asks for by a constant.
var namedNames = []string{"apiVersion", "kind", "metadata", "name",
	"namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
	"labels", "annotations", "ownerReferences", "finalizers"}

// tables writes the three generated files, or tells whether they are as they would be written.
func tables(args []string) {
	check := slices.Equal(args, []string{"--check"})
	if len(args) > 0 && !check {
		fail(usage)
	}
	checkSpecials()
	m := buildModel(allKinds())
	names := collectNames(m)
	writeOutputs([]output{
		{"src/object/proto/schema_tables.h", []byte(headerText(names))},
		{"src/object/proto/schema_tables.c", []byte(sourceText(m, names))},
		{"src/object/edit/merge_tables.c", []byte(mergeText(m, names))},
	}, check)
	fmt.Printf("%d kinds, %d messages, %d fields, %d bytes of names\n", len(m.kinds),
		len(m.messages), fieldCount(m), len(names.text))
}

func fieldCount(m *model) int {
	last := m.messages[len(m.messages)-1]
	return last.first + len(last.fields)
}

// namePool is the text of ki__schema_names, and where each name is in it.
type namePool struct {
	sorted []string
	offset map[string]int
	text   string
}

func collectNames(m *model) *namePool {
	pool := &namePool{offset: map[string]int{"": 0}, text: "\x00"}
	pool.sorted = slices.Clone(namedNames)
	for _, k := range m.kinds {
		pool.sorted = append(pool.sorted, k.apiVersion, k.name)
	}
	for _, table := range m.messages {
		for _, f := range table.fields {
			if f.name != "" {
				pool.sorted = append(pool.sorted, f.name)
			}
		}
	}
	slices.Sort(pool.sorted)
	pool.sorted = slices.Compact(pool.sorted)
	for _, name := range pool.sorted {
		if len(name) > nameMax {
			fail("long name: %s", name)
		}
		pool.offset[name] = len(pool.text)
		pool.text += string([]byte{byte(len(name))}) + name
	}
	if len(pool.text) > poolMax || fieldCount(m) > poolMax || len(m.messages) > poolMax {
		fail("too much for 16 bits: %d bytes of names, %d fields, %d messages", len(pool.text),
			fieldCount(m), len(m.messages))
	}
	return pool
}

// lines joins pieces of text to lines that are as long as they may be.
func lines(out *strings.Builder, pieces []string) {
	used := 0
	for _, piece := range pieces {
		if used > 0 && used+1+len(piece) > columns {
			out.WriteString("\n")
			used = 0
		}
		if used > 0 {
			out.WriteString(" ")
			used++
		}
		out.WriteString(piece)
		used += len(piece)
	}
	out.WriteString("\n")
}

func upper(name string) string {
	var out strings.Builder
	for _, c := range name {
		if c >= 'A' && c <= 'Z' {
			out.WriteByte('_')
		}
		out.WriteString(strings.ToUpper(string(c)))
	}
	return out.String()
}

func headerText(names *namePool) string {
	var out strings.Builder
	out.WriteString(`/* SPDX-License-Identifier: Apache-2.0 */
/* What the library asks the schema tables for by name. Written by tools/gen-schema: change that,
 * not this. */
#ifndef KI_OBJECT_PROTO_SCHEMA_TABLES_H
#define KI_OBJECT_PROTO_SCHEMA_TABLES_H

/* Offsets in ki__schema_names. */
enum {
`)
	for _, name := range namedNames {
		fmt.Fprintf(&out, "    KI__SCHEMA_NAME_%s = %d,\n", upper(name), names.offset[name])
	}
	out.WriteString(`};

/* Indexes in ki__schema_messages. */
enum {
    KI__SCHEMA_OBJECT_META = 0,
    KI__SCHEMA_LIST_META = 1,
};

#endif
`)
	return out.String()
}

func sourceText(m *model, names *namePool) string {
	var out strings.Builder
	out.WriteString(`/* SPDX-License-Identifier: Apache-2.0 */
/* The schema tables as data. Written by tools/gen-schema: change that, not this. Invariant: fields
 * of a message by number, kinds by apiVersion and kind, and each name once. */
#include "object/proto/schema.h"

`)
	for i, name := range typeNames {
		fmt.Fprintf(&out, "_Static_assert(KI__SCHEMA_%s == %d, \"number\");\n", name, i)
	}
	fmt.Fprintf(&out, "_Static_assert(KI__SCHEMA_TYPE_MAX == %d, \"number\");\n", len(typeNames))
	for i, name := range flagNames {
		fmt.Fprintf(&out, "_Static_assert(KI__SCHEMA_%s == %d, \"number\");\n", name, 1<<i)
	}
	out.WriteString("\n/* clang-format off */\n")
	writeNames(&out, names)
	writeMessages(&out, m)
	writeFields(&out, m, names)
	writeKinds(&out, m, names)
	out.WriteString("/* clang-format on */\n")
	return out.String()
}

func writeNames(out *strings.Builder, names *namePool) {
	out.WriteString("#pragma GCC diagnostic push\n" +
		"#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n" +
		"const char ki__schema_names[] =\n")
	pieces := []string{`"\000"`}
	for _, name := range names.sorted {
		pieces = append(pieces, fmt.Sprintf(`"\%03o%s"`, len(name), name))
	}
	pieces[len(pieces)-1] += ";"
	lines(out, pieces)
	out.WriteString("#pragma GCC diagnostic pop\n\n")
}

func writeMessages(out *strings.Builder, m *model) {
	out.WriteString("const ki__schema_message ki__schema_messages[] = {\n")
	var pieces []string
	for _, table := range m.messages {
		pieces = append(pieces, fmt.Sprintf("{%d,%d,%d},", table.first, len(table.fields),
			table.slots))
	}
	lines(out, pieces)
	fmt.Fprintf(out, "};\nconst size_t ki__schema_message_count = %d;\n\n", len(m.messages))
}

func writeFields(out *strings.Builder, m *model, names *namePool) {
	out.WriteString("const ki__schema_field ki__schema_fields[] = {\n")
	for i, table := range m.messages {
		pieces := []string{fmt.Sprintf("/* %d %s */", i, typeName(table.goType))}
		for _, f := range table.fields {
			message := 0
			if f.goType != nil {
				message = m.index[f.goType]
			}
			pieces = append(pieces, fmt.Sprintf("{%d,%d,%d,%d,%d,%d},", names.offset[f.name],
				message, f.number, f.kind, f.flags, f.slot))
		}
		lines(out, pieces)
	}
	out.WriteString("};\n\n")
}

func writeKinds(out *strings.Builder, m *model, names *namePool) {
	out.WriteString("const ki__schema_kind ki__schema_kinds[] = {\n")
	var pieces []string
	for _, k := range m.kinds {
		pieces = append(pieces, fmt.Sprintf("{%d,%d,%d},", names.offset[k.apiVersion],
			names.offset[k.name], m.index[k.goType]))
	}
	lines(out, pieces)
	fmt.Fprintf(out, "};\nconst size_t ki__schema_kind_count = %d;\n", len(m.kinds))
}
