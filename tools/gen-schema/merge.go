// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// How fields are merged where it is not as usual, which is: lists as a whole, maps and messages
// member by member. In the order of ki__merge_how.
const (
	mergeUsual = iota
	mergeAtomic
	mergeSet
	mergeKeys
)

const mergeKeysMax = 5

type mergeRule struct {
	message string // that the field is in
	field   int    // index in the table of fields
	how     int
	keys    []string
	whole   bool // each element, or each value of a map, is atomic
}

// marks are the comments "+name=value" of one type: those of the type itself are under "".
type marks map[string]map[string][]string

// mergeRules reads the marks in the sources of all types of the model.
func mergeRules(m *model) []mergeRule {
	sources := readMarks(m)
	var rules []mergeRule
	for _, table := range m.messages {
		for i, f := range table.fields {
			rule := mergeRule{message: typeName(table.goType), field: table.first + i}
			goField := table.goType.Field(f.goIndex)
			fromType(&rule, f, sources)
			fromField(&rule, f, sources[table.goType][goField.Name], goField)
			if rule.how != mergeUsual || rule.whole {
				rules = append(rules, rule)
			}
		}
	}
	return rules
}

// fromType: what the type of a field says of all fields that have it.
func fromType(rule *mergeRule, f field, sources map[reflect.Type]marks) {
	if f.kind != typeMessage || f.flags&flagInline != 0 ||
		!slices.Contains(sources[f.goType][""]["structType"], "atomic") {
		return
	}
	if f.flags&(flagRepeated|flagMap) == 0 {
		rule.how = mergeAtomic
	} else {
		rule.whole = true
	}
}

// fromField: what the marks of a field say, or those of strategic merge patches.
func fromField(rule *mergeRule, f field, said map[string][]string, goField reflect.StructField) {
	if slices.Contains(said["mapType"], "atomic") || slices.Contains(said["structType"], "atomic") {
		rule.how = mergeAtomic
	}
	if f.flags&flagRepeated == 0 {
		return
	}
	defer func() { // a list that is atomic itself has no elements of its own
		rule.whole = rule.whole && (rule.how == mergeSet || rule.how == mergeKeys)
	}()
	kind, given := said["listType"], len(said["listType"]) > 0
	strategy, key := goField.Tag.Get("patchStrategy"), goField.Tag.Get("patchMergeKey")
	switch {
	case slices.Contains(kind, "set"):
		rule.how = mergeSet
	case slices.Contains(kind, "map"):
		rule.how, rule.keys = mergeKeys, said["listMapKey"]
	case !given && strings.HasPrefix(strategy, "merge") && key != "":
		rule.how, rule.keys = mergeKeys, []string{key}
	case !given && strings.HasPrefix(strategy, "merge"):
		rule.how = mergeSet
	}
	if rule.how == mergeKeys && (len(rule.keys) == 0 || len(rule.keys) > mergeKeysMax) {
		fail("%s.%s: keys %q", rule.message, goField.Name, rule.keys)
	}
}

func readMarks(m *model) map[reflect.Type]marks {
	byName := map[string]map[string]marks{}
	args := []string{"list", "-f", "{{.ImportPath}} {{.Dir}}"}
	for _, table := range m.messages {
		if path := table.goType.PkgPath(); byName[path] == nil {
			byName[path] = map[string]marks{}
			args = append(args, path)
		}
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		fail("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		path, folder, _ := strings.Cut(strings.TrimSpace(line), " ")
		readFolder(folder, byName[path])
	}
	types := map[reflect.Type]marks{}
	for _, table := range m.messages {
		types[table.goType] = byName[table.goType.PkgPath()][table.goType.Name()]
		if types[table.goType] == nil {
			fail("no source of %s", typeName(table.goType))
		}
	}
	return types
}

func readFolder(folder string, types map[string]marks) {
	eachGroup(folder, func(group *ast.GenDecl, file *ast.File) {
		if group.Tok == token.TYPE {
			readTypes(group, file.Comments, types)
		}
	})
}

// eachGroup visits the declarations of the hand-written sources in a folder.
func eachGroup(folder string, visit func(group *ast.GenDecl, file *ast.File)) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		fail("%s: %v", folder, err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".pb.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			fail("%v", err)
		}
		for _, decl := range file.Decls {
			if group, ok := decl.(*ast.GenDecl); ok {
				visit(group, file)
			}
		}
	}
}

func readTypes(group *ast.GenDecl, comments []*ast.CommentGroup, types map[string]marks) {
	for _, spec := range group.Specs {
		named := spec.(*ast.TypeSpec)
		found := marks{"": marksIn(group.Doc.Text() + "\n" + named.Doc.Text())}
		// A blank line may be between the marks of a type and the rest of its comment.
		for _, comment := range comments {
			if comment.End() < group.Pos() && comment.End()+3 >= group.Pos() {
				found[""] = marksIn(comment.Text())
			}
		}
		// A type that is made of one of another package has no fields here, and says nothing.
		if body, ok := named.Type.(*ast.StructType); ok {
			for _, f := range body.Fields.List {
				for _, name := range f.Names {
					found[name.Name] = marksIn(f.Doc.Text())
				}
			}
		}
		types[named.Name.Name] = found
	}
}

func marksIn(text string) map[string][]string {
	found := map[string][]string{}
	for line := range strings.Lines(text) {
		mark, ok := strings.CutPrefix(strings.TrimSpace(line), "+")
		name, value, given := strings.Cut(mark, "=")
		if ok && given {
			found[name] = append(found[name], strings.TrimSpace(value))
		}
	}
	return found
}

func mergeText(m *model, names *namePool) string {
	var out strings.Builder
	out.WriteString(`/* SPDX-License-Identifier: Apache-2.0 */
/* How fields of built-in kinds are merged. Generated by tools/gen-schema; do not edit. Invariant:
 * sorted by the index of the field. */
#include "object/edit/merge_type.h"
#include "object/edit/patch.h"

`)
	for i, name := range []string{"USUAL", "ATOMIC", "SET", "KEYS"} {
		fmt.Fprintf(&out, "_Static_assert(KI__MERGE_%s == %d, \"number\");\n", name, i)
	}
	fmt.Fprintf(&out, "_Static_assert(KI__MERGE_KEYS_MAX == %d, \"number\");\n", mergeKeysMax)
	out.WriteString("\n/* clang-format off */\nconst ki__merge_rule ki__merge_rules[] = {\n")
	rules := mergeRules(m)
	for i := 0; i < len(rules); {
		message := rules[i].message
		pieces := []string{fmt.Sprintf("/* %s */", message)}
		for ; i < len(rules) && rules[i].message == message; i++ {
			pieces = append(pieces, ruleText(rules[i], names))
		}
		lines(&out, pieces)
	}
	fmt.Fprintf(&out, "};\nconst size_t ki__merge_rule_count = %d;\n\n", len(rules))
	writePatchRules(&out, m, names)
	out.WriteString("/* clang-format on */\n")
	return out.String()
}

// writePatchRules: the tags that strategic merge patches go by. Those that do not change how a
// patch is applied are left out.
func writePatchRules(out *strings.Builder, m *model, names *namePool) {
	out.WriteString("const ki__patch_rule ki__patch_rules[] = {\n")
	count := 0
	for _, table := range m.messages {
		pieces := []string{fmt.Sprintf("/* %s */", typeName(table.goType))}
		for i, f := range table.fields {
			tag := table.goType.Field(f.goIndex).Tag
			strategies := strings.Split(tag.Get("patchStrategy"), ",")
			key := tag.Get("patchMergeKey")
			merges := slices.Contains(strategies, "merge")
			if !merges && !slices.Contains(strategies, "replace") {
				continue
			}
			offset, ok := names.offset[key]
			if !ok {
				fail("%s: merge key %q", typeName(table.goType), key)
			}
			pieces = append(pieces, fmt.Sprintf("{%d,%d,%d},", table.first+i, b2i(merges), offset))
			count++
		}
		if len(pieces) > 1 {
			lines(out, pieces)
		}
	}
	fmt.Fprintf(out, "};\nconst size_t ki__patch_rule_count = %d;\n", count)
}

func ruleText(rule mergeRule, names *namePool) string {
	keys := ""
	for _, key := range rule.keys {
		offset, ok := names.offset[key]
		if !ok {
			fail("%s: key %q", rule.message, key)
		}
		keys += fmt.Sprintf("%d,", offset)
	}
	return fmt.Sprintf("{%d,%d,%d,%d,{%s0}},", rule.field, rule.how, b2i(rule.whole),
		len(rule.keys), keys)
}
