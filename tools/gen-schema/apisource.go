// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/token"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// A constant of a package that is a string of a named type.
type constant struct {
	name, typeName, value string
}

// apiSource is what the sources of a package have and the compiled types do not.
type apiSource struct {
	deprecated map[string]bool     // "Type", or "Type.Field"
	defaults   map[string]string   // "Type.Field": what follows "+default="
	constants  []constant          // in the order of the files
	byName     map[string]constant // the same
}

// A line of a comment that says so; names such as deprecatedSource do not.
var deprecation = regexp.MustCompile(`(?m)^(Deprecated|DEPRECATED)\b`)

// readSources reads the packages with these paths.
func readSources(paths []string) map[string]*apiSource {
	args := append([]string{"list", "-f", "{{.ImportPath}} {{.Dir}}"}, paths...)
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		fail("go list: %v", err)
	}
	sources := map[string]*apiSource{}
	for line := range strings.Lines(string(out)) {
		path, folder, _ := strings.Cut(strings.TrimSpace(line), " ")
		sources[path] = readSource(folder)
	}
	return sources
}

func readSource(folder string) *apiSource {
	source := &apiSource{map[string]bool{}, map[string]string{}, nil, map[string]constant{}}
	eachGroup(folder, func(group *ast.GenDecl, _ *ast.File) { source.readGroup(group) })
	return source
}

func (s *apiSource) readGroup(group *ast.GenDecl) {
	for _, spec := range group.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			name := spec.Name.Name
			text := group.Doc.Text() + "\n" + spec.Doc.Text()
			s.deprecated[name] = deprecation.MatchString(text)
			if body, ok := spec.Type.(*ast.StructType); ok {
				s.readFields(name, body)
			}
		case *ast.ValueSpec:
			s.readConstant(group, spec)
		}
	}
}

func (s *apiSource) readFields(typeName string, body *ast.StructType) {
	for _, field := range body.Fields.List {
		for _, name := range field.Names {
			where := typeName + "." + name.Name
			text := field.Doc.Text()
			s.deprecated[where] = deprecation.MatchString(text) ||
				strings.HasPrefix(name.Name, "Deprecated")
			if said := marksIn(text)["default"]; len(said) > 0 {
				s.defaults[where] = said[0]
			}
		}
	}
}

func (s *apiSource) readConstant(group *ast.GenDecl, spec *ast.ValueSpec) {
	named, isNamed := spec.Type.(*ast.Ident)
	if group.Tok != token.CONST || len(spec.Values) != 1 {
		return
	}
	literal, isLiteral := spec.Values[0].(*ast.BasicLit)
	if !isLiteral || literal.Kind != token.STRING {
		return
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		fail("%s: %v", spec.Names[0].Name, err)
	}
	found := constant{name: spec.Names[0].Name, value: value}
	if isNamed {
		found.typeName = named.Name
	}
	s.constants = append(s.constants, found)
	s.byName[found.name] = found
}
