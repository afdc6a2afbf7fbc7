// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The types of ki__schema_type, in its order.
type fieldType int

const (
	typeString fieldType = iota
	typeBytes
	typeBool
	typeInt32
	typeInt64
	typeDouble
	typeMessage
	typeTime
	typeMicroTime
	typeDuration
	typeQuantity
	typeIntOrString
	typeRaw
	typeItems
	typeOrBool
	typeOrList
)

var typeNames = []string{"STRING", "BYTES", "BOOL", "INT32", "INT64", "DOUBLE", "MESSAGE", "TIME",
	"MICRO_TIME", "DURATION", "QUANTITY", "INT_OR_STRING", "RAW", "ITEMS", "OR_BOOL", "OR_LIST"}

// The flags of ki__schema_flag.
const (
	flagRepeated = 1 << iota
	flagMap
	flagInline
	flagPointer
	flagOmitEmpty
	flagOmitZero
)

var flagNames = []string{"REPEATED", "MAP", "INLINE", "POINTER", "OMIT_EMPTY", "OMIT_ZERO"}

const (
	slotsMax       = 64
	inlineDepthMax = 2
	numberMax      = 255
	nameMax        = 255
	poolMax        = 64 * 1024
)

var specials = map[reflect.Type]fieldType{
	reflect.TypeFor[metav1.Time]():                                       typeTime,
	reflect.TypeFor[metav1.MicroTime]():                                  typeMicroTime,
	reflect.TypeFor[metav1.Duration]():                                   typeDuration,
	reflect.TypeFor[resource.Quantity]():                                 typeQuantity,
	reflect.TypeFor[intstr.IntOrString]():                                typeIntOrString,
	reflect.TypeFor[runtime.RawExtension]():                              typeRaw,
	reflect.TypeFor[metav1.FieldsV1]():                                   typeRaw,
	reflect.TypeFor[apiextensionsv1.JSON]():                              typeRaw,
	reflect.TypeFor[apiextensionsv1beta1.JSON]():                         typeRaw,
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():             typeOrBool,
	reflect.TypeFor[apiextensionsv1beta1.JSONSchemaPropsOrBool]():        typeOrBool,
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():            typeOrList,
	reflect.TypeFor[apiextensionsv1beta1.JSONSchemaPropsOrArray]():       typeOrList,
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray]():      typeOrList,
	reflect.TypeFor[apiextensionsv1beta1.JSONSchemaPropsOrStringArray](): typeOrList,
}

var (
	typeMetaType   = reflect.TypeFor[metav1.TypeMeta]()
	objectMetaType = reflect.TypeFor[metav1.ObjectMeta]()
	listMetaType   = reflect.TypeFor[metav1.ListMeta]()
	jsonMarshaler  = reflect.TypeFor[json.Marshaler]()
	textMarshaler  = reflect.TypeFor[encoding.TextMarshaler]()
)

type field struct {
	name    string
	goIndex int
	goType  reflect.Type // of the message, where the type needs one
	number  int
	kind    fieldType
	flags   int
	slot    int
}

type messageTable struct {
	goType reflect.Type
	fields []field
	slots  int
	depth  int // of inline messages
	first  int // index of its first field in the table
}

type model struct {
	kinds    []kind
	messages []*messageTable
	index    map[reflect.Type]int
}

// buildModel reads the tags of every type that the kinds lead to. ObjectMeta and ListMeta come
// first, the others follow by their names.
func buildModel(kinds []kind) *model {
	tables := map[reflect.Type]*messageTable{}
	waiting := []reflect.Type{objectMetaType, listMetaType}
	for _, k := range kinds {
		waiting = append(waiting, k.goType)
	}
	for len(waiting) > 0 {
		goType := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		if tables[goType] != nil {
			continue
		}
		table := readMessage(goType)
		tables[goType] = table
		for _, f := range table.fields {
			if f.goType != nil {
				waiting = append(waiting, f.goType)
			}
		}
	}
	m := &model{kinds: kinds, index: map[reflect.Type]int{}}
	for _, table := range tables {
		countSlots(tables, table)
		m.messages = append(m.messages, table)
	}
	slices.SortFunc(m.messages, func(a, b *messageTable) int {
		return strings.Compare(sortName(a.goType), sortName(b.goType))
	})
	first := 0
	for i, table := range m.messages {
		checkNames(tables, table)
		m.index[table.goType] = i
		table.first = first
		first += len(table.fields)
	}
	return m
}

func sortName(goType reflect.Type) string {
	switch goType {
	case objectMetaType:
		return "0"
	case listMetaType:
		return "1"
	}
	return typeName(goType)
}

// typeName is a short name with the package, such as core/v1.Pod.
func typeName(goType reflect.Type) string {
	path := goType.PkgPath()
	for _, root := range []string{"k8s.io/api/", "/apis/", "/pkg/"} {
		if i := strings.LastIndex(path, root); i >= 0 {
			path = path[i+len(root):]
		}
	}
	return path + "." + goType.Name()
}

func readMessage(goType reflect.Type) *messageTable {
	where := typeName(goType)
	if goType.Kind() != reflect.Struct || !reflect.PointerTo(goType).Implements(messageType) {
		fail("%s: not a struct with protobuf", where)
	}
	special, isSpecial := specials[goType]
	if isSpecial && special != typeOrBool && special != typeOrList {
		fail("%s: a special type needs no table", where)
	}
	if !isSpecial {
		checkPlainJSON(goType)
	}
	table := &messageTable{goType: goType}
	for i := range goType.NumField() {
		if f, ok := readField(goType.Field(i), where, isSpecial); ok {
			f.goIndex = i
			table.fields = append(table.fields, f)
		}
	}
	slices.SortFunc(table.fields, func(a, b field) int { return a.number - b.number })
	for i := range table.fields {
		if i > 0 && table.fields[i-1].number == table.fields[i].number {
			fail("%s: number %d twice", where, table.fields[i].number)
		}
	}
	checkMessage(table)
	return table
}

// checkPlainJSON fails for a type that tells JSON itself what it is.
func checkPlainJSON(goType reflect.Type) {
	for _, t := range []reflect.Type{goType, reflect.PointerTo(goType)} {
		if t.Implements(jsonMarshaler) || t.Implements(textMarshaler) {
			fail("%s: writes its own JSON, and is not among the special types", typeName(goType))
		}
	}
}

func readField(f reflect.StructField, where string, special bool) (field, bool) {
	where += "." + f.Name
	proto, hasProto := f.Tag.Lookup("protobuf")
	if f.Anonymous && f.Type == typeMetaType && !hasProto {
		return field{}, false // the envelope holds it
	}
	if !hasProto && f.Tag.Get("json") == "-" {
		return field{}, false // in neither
	}
	if !hasProto || proto == "-" || !f.IsExported() {
		fail("%s: a field without protobuf", where)
	}
	out := field{}
	out.number = readNumber(proto, where)
	readType(&out, f.Type, where)
	if special {
		out.name = protoName(proto, where)
		return out, true
	}
	tag, hasJSON := f.Tag.Lookup("json")
	name, options, _ := strings.Cut(tag, ",")
	if !hasJSON || name == "-" {
		fail("%s: a field without JSON", where)
	}
	readOptions(&out, options, where)
	out.name = name
	if name == "" {
		if !f.Anonymous || out.kind != typeMessage || out.flags != 0 {
			fail("%s: a field without name", where)
		}
		out.flags = flagInline
	}
	if len(name) > nameMax {
		fail("%s: long name", where)
	}
	return out, true
}

func readNumber(proto, where string) int {
	parts := strings.Split(proto, ",")
	if len(parts) < 3 || !slices.Contains([]string{"bytes", "varint"}, parts[0]) {
		fail("%s: protobuf tag %q", where, proto)
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil || number < 1 || number > numberMax {
		fail("%s: number %q", where, parts[1])
	}
	return number
}

func protoName(proto, where string) string {
	for part := range strings.SplitSeq(proto, ",") {
		if name, ok := strings.CutPrefix(part, "name="); ok {
			return name
		}
	}
	fail("%s: protobuf tag %q has no name", where, proto)
	return ""
}

func readOptions(out *field, options, where string) {
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "", "inline":
		case "omitempty":
			if canBeEmpty(out) {
				out.flags |= flagOmitEmpty
			}
		case "omitzero":
			out.flags |= flagOmitZero
		default:
			fail("%s: JSON option %q", where, option)
		}
	}
}

// canBeEmpty: omitempty does nothing to a struct.
func canBeEmpty(f *field) bool {
	return f.flags != 0 || f.kind < typeMessage || f.kind == typeItems
}

func readType(out *field, t reflect.Type, where string) {
	ownMessage := reflect.PointerTo(t).Implements(messageType)
	switch {
	case t.Kind() == reflect.Pointer:
		out.flags = flagPointer
		t = t.Elem()
	case t.Kind() == reflect.Slice && !ownMessage && t.Elem().Kind() != reflect.Uint8:
		out.flags = flagRepeated
		t = t.Elem()
	case t.Kind() == reflect.Map && !ownMessage:
		if t.Key().Kind() != reflect.String || t.Key().Implements(textMarshaler) {
			fail("%s: map with keys of type %s", where, t.Key())
		}
		out.flags = flagMap
		t = t.Elem()
	}
	out.kind = valueType(t, where)
	switch out.kind {
	case typeMessage, typeOrBool, typeOrList:
		out.goType = t
	}
}

func valueType(t reflect.Type, where string) fieldType {
	if special, ok := specials[t]; ok {
		return special
	}
	if t.Name() != "" && t.Kind() != reflect.Struct {
		checkPlainJSON(t)
	}
	ownMessage := reflect.PointerTo(t).Implements(messageType)
	switch {
	case ownMessage && t.Kind() == reflect.Struct:
		return typeMessage
	case ownMessage && t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return typeItems
	case ownMessage:
	case t.Kind() == reflect.String:
		return typeString
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return typeBytes
	case t.Kind() == reflect.Bool:
		return typeBool
	case t.Kind() == reflect.Int32:
		return typeInt32
	case t.Kind() == reflect.Int64:
		return typeInt64
	case t.Kind() == reflect.Float64:
		return typeDouble
	}
	fail("%s: type %s", where, t)
	return 0
}

// countSlots gives the slots of a message and of those inline in it.
func countSlots(tables map[reflect.Type]*messageTable, table *messageTable) {
	if table.slots > 0 {
		return
	}
	table.slots = len(table.fields)
	for i := range table.fields {
		f := &table.fields[i]
		if f.flags&flagInline != 0 {
			inner := tables[f.goType]
			countSlots(tables, inner)
			f.slot = table.slots
			table.slots += inner.slots
			table.depth = max(table.depth, inner.depth+1)
		}
	}
	if table.slots > slotsMax || table.depth > inlineDepthMax {
		fail("%s: %d slots, inline depth %d", typeName(table.goType), table.slots, table.depth)
	}
}

// checkNames fails if JSON would show two members with one name.
func checkNames(tables map[reflect.Type]*messageTable, table *messageTable) {
	seen := map[string]bool{}
	var visit func(t *messageTable)
	visit = func(t *messageTable) {
		for _, f := range t.fields {
			if f.flags&flagInline != 0 {
				visit(tables[f.goType])
				continue
			}
			if seen[f.name] || f.name == "" {
				fail("%s: name %q twice", typeName(table.goType), f.name)
			}
			seen[f.name] = true
		}
	}
	visit(table)
}
