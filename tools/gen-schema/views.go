// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// views writes include/kinformer/api: a header of typed views for each group and version.
func views(args []string) {
	check := slices.Equal(args, []string{"--check"})
	if len(args) > 0 && !check {
		fail(usage)
	}
	checkSpecials()
	m := buildModel(allKinds())
	v := newViewModel(m)
	var outputs []output
	size := 0
	for _, p := range v.packages {
		name, text, classes := "include/kinformer/api/"+p.name, v.header(p), v.cppHeader(p)
		size += len(text) + len(classes)
		outputs = append(outputs, output{name + ".h", []byte(text)},
			output{name + ".hpp", []byte(classes)})
	}
	writeOutputs(outputs, check)
	fmt.Printf("%d headers, %d types, %d fields, %d bytes\n", len(outputs), v.types, v.fields, size)
}

// A package of API types: a header.
type viewPackage struct {
	path, name string // name: core_v1
	messages   []*messageTable
	enums      []reflect.Type
}

type viewModel struct {
	*model
	packages      []*viewPackage
	sources       map[string]*apiSource
	listed        map[reflect.Type]bool // there is a list of it
	mapped        map[reflect.Type]bool // there is a map of it
	keys          map[int]string        // of a field with this index: the key of its elements
	types, fields int
}

// A field as JSON shows it: of its message, or of one that is inline in it.
type viewField struct {
	field
	owner *messageTable
	index int    // of the field in the table
	way   uint32 // its number, and those of the inline messages around it
}

func newViewModel(m *model) *viewModel {
	v := &viewModel{model: m, listed: map[reflect.Type]bool{}, mapped: map[reflect.Type]bool{},
		keys: map[int]string{}}
	for _, rule := range mergeRules(m) {
		if rule.how == mergeKeys && len(rule.keys) == 1 {
			v.keys[rule.field] = rule.keys[0]
		}
	}
	var paths []string
	packages := map[string]*viewPackage{}
	for _, table := range v.reachable() {
		path := table.goType.PkgPath()
		p := packages[path]
		if p == nil {
			name, _, _ := strings.Cut(typeName(table.goType), ".")
			p = &viewPackage{path: path, name: strings.ReplaceAll(name, "/", "_")}
			packages[path] = p
			v.packages = append(v.packages, p)
			paths = append(paths, path)
		}
		p.messages = append(p.messages, table)
		for _, f := range v.fieldsOf(table) {
			v.noteField(f)
		}
	}
	v.sources = readSources(paths)
	for _, p := range v.packages {
		slices.SortFunc(p.messages, func(a, b *messageTable) int {
			return strings.Compare(a.goType.Name(), b.goType.Name())
		})
	}
	v.findEnums(packages)
	return v
}

// reachable gives the messages that a view can be of: not those that are only inline in others.
func (v *viewModel) reachable() []*messageTable {
	wanted := map[reflect.Type]bool{}
	waiting := []reflect.Type{}
	for _, k := range v.kinds {
		waiting = append(waiting, k.goType)
	}
	for len(waiting) > 0 {
		goType := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		if wanted[goType] {
			continue
		}
		wanted[goType] = true
		for _, f := range v.fieldsOf(v.messages[v.index[goType]]) {
			if f.goType != nil && f.kind == typeMessage {
				waiting = append(waiting, f.goType)
			}
		}
	}
	var tables []*messageTable
	for _, table := range v.messages {
		if wanted[table.goType] {
			tables = append(tables, table)
		}
	}
	return tables
}

func (v *viewModel) fieldsOf(table *messageTable) []viewField {
	return v.flatten(nil, table, 0)
}

func (v *viewModel) flatten(found []viewField, table *messageTable, way uint32) []viewField {
	for i, f := range table.fields {
		own := way<<8 | uint32(f.number)
		if f.flags&flagInline != 0 {
			found = v.flatten(found, v.messages[v.index[f.goType]], own)
		} else {
			found = append(found, viewField{f, table, table.first + i, own})
		}
	}
	return found
}

func (v *viewModel) noteField(f viewField) {
	if f.kind == typeMessage && f.flags&flagRepeated != 0 {
		v.listed[f.goType] = true
	}
	if f.kind == typeMessage && f.flags&flagMap != 0 {
		v.mapped[f.goType] = true
	}
}

// findEnums gives each package the named strings that fields are, or keys of maps.
func (v *viewModel) findEnums(packages map[string]*viewPackage) {
	seen := map[reflect.Type]bool{}
	note := func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		p := packages[t.PkgPath()]
		if t.Kind() == reflect.String && t.Name() != "" && p != nil && !seen[t] {
			seen[t] = true
			p.enums = append(p.enums, t)
		}
	}
	for _, p := range v.packages {
		for _, table := range p.messages {
			for _, f := range v.fieldsOf(table) {
				t := f.owner.goType.Field(f.goIndex).Type
				if t.Kind() == reflect.Map {
					note(t.Key())
					t = t.Elem()
				}
				note(t)
			}
		}
	}
	for _, p := range v.packages {
		slices.SortFunc(p.enums, func(a, b reflect.Type) int {
			return strings.Compare(a.Name(), b.Name())
		})
	}
}

func packageName(goType reflect.Type) string {
	name, _, _ := strings.Cut(typeName(goType), ".")
	return strings.ReplaceAll(name, "/", "_")
}

func viewType(goType reflect.Type) string {
	return "ki_" + packageName(goType) + "_" + goType.Name()
}

// identifier is the name of a field, or a value, in a name of C: <kinformer/view.h> has the rule.
func identifier(name string) string {
	mapped := strings.Map(func(c rune) rune {
		if c < 128 && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
			return c
		}
		return '_'
	}, name)
	mapped = strings.TrimLeft(mapped, "_")
	switch mapped {
	case "of", "list", "map", "edit", "new":
		return mapped + "_"
	}
	return mapped
}

// words is a name in words: "Node name" for nodeName.
func words(name string) string {
	var out strings.Builder
	letters := []rune(strings.TrimLeft(name, "$"))
	for i, c := range letters {
		before := i > 0 && unicode.IsUpper(letters[i-1])
		after := i+1 < len(letters) && unicode.IsLower(letters[i+1])
		switch {
		case c == '-':
			c = ' '
		case i > 0 && unicode.IsUpper(c) && !before:
			out.WriteByte(' ')
			if after {
				c = unicode.ToLower(c)
			}
		case unicode.IsUpper(c) && before && after:
			// The s of "IPs" belongs to the word before it.
			if !(i+2 == len(letters) && letters[i+1] == 's') {
				out.WriteByte(' ')
				c = unicode.ToLower(c)
			}
		case i == 0:
			c = unicode.ToUpper(c)
		}
		out.WriteRune(c)
	}
	return out.String()
}

// How a field is read: the macro, the type of the result if the macro takes one, and words for it.
type viewRead struct {
	macro, result, words string
}

var plainReads = map[fieldType]viewRead{
	typeString:      {"TEXT", "", "string"},
	typeBytes:       {"BYTES", "", "bytes"},
	typeBool:        {"BOOL", "", "boolean"},
	typeInt32:       {"INT32", "", "32-bit integer"},
	typeInt64:       {"INT64", "", "64-bit integer"},
	typeDouble:      {"DOUBLE", "", "number"},
	typeTime:        {"TIME", "", "time"},
	typeMicroTime:   {"MICRO_TIME", "", "time with microseconds"},
	typeDuration:    {"DURATION", "", "duration in nanoseconds"},
	typeQuantity:    {"QUANTITY", "", "quantity"},
	typeIntOrString: {"INT_OR_STRING", "", "integer or string"},
	typeRaw:         {"VALUE", "", "any JSON"},
	typeItems:       {"CHILD", "ki_text_list", "list of strings"},
	typeOrBool:      {"VALUE", "", "schema or boolean"},
	typeOrList:      {"VALUE", "", "schema or list"},
}

var listReads = map[fieldType]viewRead{
	typeString:   {"CHILD", "ki_text_list", "list of strings"},
	typeInt32:    {"CHILD", "ki_int64_list", "list of 32-bit integers"},
	typeInt64:    {"CHILD", "ki_int64_list", "list of 64-bit integers"},
	typeBool:     {"CHILD", "ki_bool_list", "list of booleans"},
	typeQuantity: {"CHILD", "ki_quantity_list", "list of quantities"},
	typeRaw:      {"CHILD", "ki_value_list", "list of any JSON"},
}

var mapReads = map[fieldType]viewRead{
	typeString:   {"CHILD", "ki_text_map", "map of strings"},
	typeBytes:    {"CHILD", "ki_bytes_map", "map of bytes"},
	typeQuantity: {"CHILD", "ki_quantity_map", "map of quantities"},
	typeTime:     {"CHILD", "ki_timestamp_map", "map of times"},
	typeItems:    {"CHILD", "ki_text_list_map", "map of lists of strings"},
	typeOrList:   {"CHILD", "ki_value_map", "map of schemas or lists"},
}

func readOf(f viewField) viewRead {
	reads := plainReads
	name, suffix := "", ""
	switch {
	case f.flags&flagRepeated != 0:
		reads, name, suffix = listReads, "list of ", "_list"
	case f.flags&flagMap != 0:
		reads, name, suffix = mapReads, "map of ", "_map"
	}
	if f.kind == typeMessage {
		return viewRead{"CHILD", viewType(f.goType) + suffix, name + f.goType.Name()}
	}
	read, ok := reads[f.kind]
	if !ok {
		fail("%s.%s: no view for type %d, flags %d", typeName(f.owner.goType), f.name, f.kind, f.flags)
	}
	return read
}

// defaultOf gives the default of a field as C, or nothing if there is none or it is zero.
func (v *viewModel) defaultOf(f viewField, read viewRead) string {
	source := v.sources[f.owner.goType.PkgPath()]
	where := f.owner.goType.Name() + "." + f.owner.goType.Field(f.goIndex).Name
	if source == nil {
		return ""
	}
	said := source.defaults[where]
	if name, ok := strings.CutPrefix(said, "ref("); ok {
		found, ok := source.byName[strings.TrimSuffix(name, ")")]
		if !ok {
			fail("%s: default %s", where, said)
		}
		said = strconv.Quote(found.value)
	}
	switch read.macro {
	case "TEXT", "BOOL", "INT32", "INT64", "DOUBLE":
		if said == `""` || said == "0" || said == "false" {
			return ""
		}
		return said
	}
	return "" // of a message: what is in it is absent
}

func (v *viewModel) isDeprecated(f viewField) bool {
	source := v.sources[f.owner.goType.PkgPath()]
	where := f.owner.goType.Name() + "." + f.owner.goType.Field(f.goIndex).Name
	return source != nil && source.deprecated[where]
}

// enumOf gives the name of the named string that a field is, or a list of, if it has constants.
func (v *viewModel) enumOf(f viewField) string {
	t := f.owner.goType.Field(f.goIndex).Type
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	source := v.sources[t.PkgPath()]
	if f.kind != typeString || t.Name() == "" || source == nil || f.flags&flagMap != 0 {
		return ""
	}
	for _, c := range source.constants {
		if c.typeName == t.Name() {
			return t.Name()
		}
	}
	return ""
}
