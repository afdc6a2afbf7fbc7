// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"maps"
	"reflect"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Tags are written by hand and not always true (a float64 says "bytes"), so that every field is
// checked against what the generated code does with it.

const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
)

func wireTypeOf(kind fieldType) int {
	switch kind {
	case typeBool, typeInt32, typeInt64:
		return wireVarint
	case typeDouble:
		return wireFixed64
	}
	return wireBytes
}

// wireNext takes one field off a message that Go wrote.
func wireNext(data []byte) (number, wire int, content, rest []byte) {
	tag, n := binary.Uvarint(data)
	number, wire, data = int(tag>>3), int(tag&7), data[n:]
	length := uint64(8)
	switch wire {
	case wireVarint:
		_, n = binary.Uvarint(data)
		length = uint64(n)
	case wireFixed64:
	case wireBytes:
		length, n = binary.Uvarint(data)
		data = data[n:]
	default:
		fail("field %d: wire type %d", number, wire)
	}
	return number, wire, data[:length], data[length:]
}

// wireFields gives the wire type and the last content of each field of a message.
func wireFields(data []byte) (map[int]int, map[int][]byte) {
	types, contents := map[int]int{}, map[int][]byte{}
	for len(data) > 0 {
		number, wire, content, rest := wireNext(data)
		types[number], contents[number], data = wire, content, rest
	}
	return types, contents
}

func marshal(value reflect.Value, where string) []byte {
	data, err := value.Addr().Interface().(message).Marshal()
	if err != nil {
		fail("%s: %v", where, err)
	}
	return data
}

// checkMessage marshals a message with nothing set, then with every field set, and compares what is
// on the wire with the table.
func checkMessage(table *messageTable) {
	where := typeName(table.goType)
	value := reflect.New(table.goType).Elem()
	empty, _ := wireFields(marshal(value, where))
	wantEmpty, wantFull := map[int]int{}, map[int]int{}
	for _, f := range table.fields {
		wire := wireTypeOf(f.kind)
		set := value.Field(f.goIndex)
		switch {
		case f.flags&flagPointer != 0:
			set.Set(reflect.New(set.Type().Elem()))
		case f.flags&flagRepeated != 0:
			set.Set(reflect.MakeSlice(set.Type(), 1, 1))
		case f.flags&flagMap != 0:
			set.Set(reflect.MakeMap(set.Type()))
			entry := reflect.New(set.Type().Elem()).Elem()
			if entry.Kind() == reflect.Slice { // nil would not be written
				entry.Set(reflect.MakeSlice(entry.Type(), 0, 0))
			}
			set.SetMapIndex(reflect.Zero(set.Type().Key()), entry)
			wire = wireBytes
		case f.kind == typeBytes, f.kind == typeItems:
			set.Set(reflect.MakeSlice(set.Type(), 0, 0))
		default:
			wantEmpty[f.number] = wire
		}
		wantFull[f.number] = wire
	}
	full, contents := wireFields(marshal(value, where))
	if !maps.Equal(empty, wantEmpty) || !maps.Equal(full, wantFull) {
		fail("%s: on the wire are %v and %v, expected %v and %v", where, empty, full, wantEmpty,
			wantFull)
	}
	for _, f := range table.fields {
		if f.flags&flagMap != 0 {
			entry, _ := wireFields(contents[f.number])
			if !maps.Equal(entry, map[int]int{1: wireBytes, 2: wireTypeOf(f.kind)}) {
				fail("%s: map %s has entries %v", where, f.name, entry)
			}
		}
	}
}

// checkSpecials compares the special types with what the tables say of them.
func checkSpecials() {
	micro := metav1.NewMicroTime(time.Unix(5, 7999))
	plain := metav1.NewTime(time.Unix(5, 7999))
	quantity := resource.MustParse("1Gi")
	for _, c := range []struct {
		value message
		want  string
	}{
		{&metav1.Time{}, ""},
		{&plain, "\x08\x05\x10\x00"},
		{&metav1.MicroTime{}, ""},
		{&micro, "\x08\x05\x10\xd8\x36"},
		{&metav1.Duration{Duration: 9}, "\x08\x09"},
		{&resource.Quantity{}, "\x0a\x010"},
		{&quantity, "\x0a\x031Gi"},
		{&intstr.IntOrString{IntVal: 3}, "\x08\x00\x10\x03\x1a\x00"},
		{&intstr.IntOrString{Type: intstr.String, StrVal: "a"}, "\x08\x01\x10\x00\x1a\x01a"},
		{&runtime.RawExtension{}, ""},
		{&runtime.RawExtension{Raw: []byte("{}")}, "\x0a\x02{}"},
		{&metav1.FieldsV1{}, ""},
		{metav1.NewFieldsV1("{}"), "\x0a\x02{}"},
		{&apiextensionsv1.JSON{}, ""},
		{&apiextensionsv1.JSON{Raw: []byte("{}")}, "\x0a\x02{}"},
		{&authenticationv1.ExtraValue{"a", ""}, "\x0a\x01a\x0a\x00"},
		{&metav1.Verbs{}, ""},
		{&apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}, "\x08\x01"},
	} {
		got, err := c.value.Marshal()
		if err != nil || !bytes.Equal(got, []byte(c.want)) {
			fail("%T: is %q on the wire, not %q (%v)", c.value, got, c.want, err)
		}
	}
}
