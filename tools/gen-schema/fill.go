// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// filler puts values into objects: into every field, or at random into some.
type filler struct {
	random  *rand.Rand
	full    bool
	density float64 // of the pointers, lists and maps: how many are set
	budget  int     // values that may still be set
	wild    bool    // also what JSON cannot hold, such as bytes that are not UTF-8
	path    []reflect.Type
	unions  map[reflect.Type]int
	count   int
}

// How often a type may be in itself.
const recursionMax = 2

// The longest text in metadata, where the library has a limit.
const metaTextMax = 300

func (f *filler) fill(v reflect.Value) {
	f.count++
	f.budget--
	if f.fillSpecial(v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		f.fillPointer(v)
	case reflect.Struct:
		f.fillStruct(v)
	case reflect.Slice:
		f.fillSlice(v)
	case reflect.Map:
		f.fillMap(v)
	case reflect.String:
		v.SetString(f.text())
	case reflect.Bool:
		v.SetBool(f.full || f.random.IntN(2) == 0)
	case reflect.Int32:
		v.SetInt(int64(int32(f.integer(math.MinInt32, math.MaxInt32))))
	case reflect.Int64:
		v.SetInt(f.integer(math.MinInt64, math.MaxInt64))
	case reflect.Float64:
		v.SetFloat(f.double())
	default:
		fail("cannot fill %s", v.Type())
	}
}

// wanted decides whether something that may be left out is set.
func (f *filler) wanted(t reflect.Type) bool {
	depth := 0
	for _, above := range f.path {
		if above == t {
			depth++
		}
	}
	if depth >= recursionMax {
		return false
	}
	return f.full || (f.budget > 0 && f.random.Float64() < f.density)
}

func (f *filler) fillPointer(v reflect.Value) {
	if f.wanted(v.Type().Elem()) {
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	}
}

func (f *filler) fillStruct(v reflect.Value) {
	t := v.Type()
	if t == typeMetaType {
		return
	}
	f.path = append(f.path, t)
	order := make([]int, v.NumField())
	for i := range order {
		order[i] = i
	}
	if !f.full { // no field is always the one that the budget is too small for
		f.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	for _, i := range order {
		if _, ok := t.Field(i).Tag.Lookup("protobuf"); !ok {
			continue
		}
		v.Field(i).SetZero()
		if f.full || f.budget > 0 {
			f.fill(v.Field(i))
		}
	}
	f.path = f.path[:len(f.path)-1]
	if t == objectMetaType || t == listMetaType {
		cleanMeta(v)
	}
}

// cleanMeta takes from metadata what the library refuses there.
func cleanMeta(v reflect.Value) {
	for i := range v.NumField() {
		if text := v.Field(i); text.Kind() == reflect.String {
			clean := strings.ReplaceAll(text.String(), "\x00", "0")
			text.SetString(clean[:min(len(clean), metaTextMax)])
		}
	}
}

func (f *filler) length() int {
	if f.full {
		// Two, where it does not make the whole much bigger.
		return 1 + b2i(len(f.path) <= 2)
	}
	return 1 + f.random.IntN(3)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (f *filler) fillSlice(v reflect.Value) {
	elem := v.Type().Elem()
	if elem.Kind() == reflect.Uint8 {
		if f.full || f.random.Float64() < max(f.density, 0.3) {
			v.SetBytes(f.bytes())
		}
		return
	}
	if !f.wanted(elem) {
		return
	}
	length := f.length()
	if f.full && elem.Kind() == reflect.Struct && hasObjectMeta(elem) {
		length = 1 // of the objects in a list one is enough
	}
	v.Set(reflect.MakeSlice(v.Type(), length, length))
	for i := range length {
		f.fill(v.Index(i))
	}
}

func hasObjectMeta(t reflect.Type) bool {
	meta, ok := t.FieldByName("ObjectMeta")
	return ok && meta.Type == objectMetaType
}

func (f *filler) fillMap(v reflect.Value) {
	if !f.wanted(v.Type().Elem()) {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	wild := f.wild
	length := f.length()
	for range length {
		key := reflect.New(v.Type().Key()).Elem()
		f.wild = wild && length == 1 // else two bad keys could be one in JSON
		key.SetString(f.text())
		f.wild = wild
		value := reflect.New(v.Type().Elem()).Elem()
		f.fill(value)
		if value.Kind() == reflect.Slice && value.IsNil() && !f.wild {
			value.Set(reflect.MakeSlice(value.Type(), 0, 0))
		}
		v.SetMapIndex(key, value)
	}
}

func pick[T any](f *filler, choices ...T) T {
	return choices[f.random.IntN(len(choices))]
}

var validTexts = []string{"", "", "a", "kube-system", "nginx:1.27", "app.kubernetes.io/name", "0",
	"true", "null", "quote \" backslash \\ slash /", "\b\f\n\r\t", "\x01\x1f\x7f", "\x00", "a\x00b",
	"<script>&amp;</script>", "\u2028\u2029\ufeff", "h\u00e9llo w\u00f6rld", "\u65e5\u672c\u8a9e",
	"\U0001f600\U0001d11e", "\ufffd", "\uffff", "\u0080\u07ff\u0800\U0010ffff", " ", "\\u0041"}

var invalidTexts = []string{"bad\xff\xfebytes", "\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80",
	"\xc0\xaf", "a\x80", "\xe2\x82", "\xf0\x9f\x98x", "\u00e9\xe9"}

func (f *filler) text() string {
	if f.full {
		return fmt.Sprintf("s%d", f.count)
	}
	switch n := f.random.IntN(100); {
	case n < 35:
		return fmt.Sprintf("text-%d", f.random.IntN(1000))
	case n < 90 || !f.wild && n < 98:
		return pick(f, validTexts...) + pick(f, validTexts...)
	case n < 98:
		return pick(f, validTexts...) + pick(f, invalidTexts...) + pick(f, validTexts...)
	}
	return strings.Repeat(pick(f, "x", "long text ", "\u65e5", "\n"), f.random.IntN(150))
}

func (f *filler) bytes() []byte {
	if f.full {
		return []byte{byte(f.count), 0xff, 0}
	}
	out := make([]byte, f.random.IntN(20))
	for i := range out {
		out[i] = byte(f.random.Uint32())
	}
	return out
}

func (f *filler) integer(low, high int64) int64 {
	if f.full {
		return int64(f.count)
	}
	return pick(f, 0, 1, -1, 80, 127, 128, 255, 300, 16383, 16384, f.random.Int64N(100000),
		-f.random.Int64N(100000), low, high, low+1, high-1, 1<<31-1, -1<<31,
		int64(f.random.Uint64()))
}

func (f *filler) double() float64 {
	if f.full {
		return float64(f.count) + 0.5
	}
	return pick(f, 0, 1, -1, 0.1, 1.5, -2.25, 100, 1e20, 1e21, 123456789012345680, 1e-6, 1e-7,
		math.MaxFloat64, math.SmallestNonzeroFloat64, 0.30000000000000004, 4503599627370497.5,
		math.Copysign(0, -1), f.random.NormFloat64(), f.random.ExpFloat64()*1e10)
}

func (f *filler) time() time.Time {
	if f.full {
		return time.Unix(1700000000+int64(f.count), 123456000)
	}
	return pick(f,
		time.Time{},
		time.Unix(0, 0),
		time.Unix(-1, 0),
		time.Unix(1<<31, 999999999),
		time.Unix(f.random.Int64N(4e9)-2e9, f.random.Int64N(1e9)),
		time.Unix(f.random.Int64N(4e9), f.random.Int64N(1000)*1000),
		time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC),
		time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
		time.Date(2024, 2, 29, 23, 59, 60, 0, time.UTC),
		time.Date(1900, 2, 28, 12, 0, 0, 5000, time.UTC))
}

func (f *filler) duration() time.Duration {
	if f.full {
		return time.Duration(f.count)*time.Hour + 1500*time.Millisecond
	}
	return time.Duration(pick(f, 0, 1, -1, 999, 1000, 1100, 999999, 1e6, 15e8, 60e9, 3600e9,
		math.MaxInt64, math.MinInt64, f.random.Int64N(1e13), -f.random.Int64N(1e13)))
}

var quantities = []string{"0", "1", "100m", "1Gi", "1.5Gi", "500Mi", "2k", "1e3", "0.5", "-3", "1n",
	"12345678901234567890", "1Ei", "8E", "0.001", "1500m", "3e10", "-100m", "9223372036854775807",
	"1.123456789", "7u", "1048576", "100Ki", "1e-3", "99999999999999999999999999Ki", "12e6"}

func (f *filler) quantity() resource.Quantity {
	if f.full {
		return resource.MustParse(fmt.Sprintf("%dMi", f.count))
	}
	return resource.MustParse(pick(f, quantities...))
}

var rawObjects = []string{"{}", `{"a":1}`,
	`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"}}`,
	`{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`, `{"a":[1,2.50,-0,1e5,"s",null,true,{"b":{}}]}`,
	`{ "spaced" : [ 1 , 2 ] }`, `{"html":"<&>","u":"\u00e9\ud83d\ude00","n":"\n"}`}

var rawOthers = []string{"1", "0", "-12.5", "1e100", "12345678901234567890", `"text"`, `""`, "true",
	"false", "null", "[]", "[1,2]", `"\u0000\"\\"`, " 7 ", "\t{}\n", `[[],{},"",0]`}

func (f *filler) raw(others bool) []byte {
	switch {
	case f.full:
		return fmt.Appendf(nil, `{"raw":%d}`, f.count)
	case others && f.random.IntN(2) == 0:
		return []byte(pick(f, rawOthers...))
	}
	return []byte(pick(f, rawObjects...))
}

// hasRaw: whether there is JSON in it; nothing is null in JSON.
func (f *filler) hasRaw() bool {
	return f.full || f.random.IntN(8) > 0
}

func (f *filler) fillSpecial(v reflect.Value) bool {
	switch s := v.Addr().Interface().(type) {
	case *metav1.Time:
		*s = metav1.NewTime(f.time())
	case *metav1.MicroTime:
		*s = metav1.NewMicroTime(f.time())
	case *metav1.Duration:
		s.Duration = f.duration()
	case *resource.Quantity:
		*s = f.quantity()
	case *intstr.IntOrString:
		f.fillIntOrString(s)
	case *runtime.RawExtension:
		if f.hasRaw() {
			s.Raw = f.raw(true)
		}
	case *metav1.FieldsV1:
		if f.hasRaw() {
			s.SetRawBytes(f.raw(false))
		}
	case *apiextensionsv1.JSON:
		if f.hasRaw() {
			s.Raw = f.raw(true)
		}
	case *apiextensionsv1beta1.JSON:
		if f.hasRaw() {
			s.Raw = f.raw(true)
		}
	default:
		return f.fillUnion(v)
	}
	return true
}

func (f *filler) fillIntOrString(s *intstr.IntOrString) {
	if f.full && f.count%2 == 0 || !f.full && f.random.IntN(2) == 0 {
		*s = intstr.FromInt32(int32(f.integer(math.MinInt32, math.MaxInt32)))
	} else {
		*s = intstr.FromString(f.text())
	}
	if !f.full && f.wild && f.random.IntN(4) == 0 { // what the other side has is not shown
		s.IntVal, s.StrVal = 5, "5"
	}
}

// fillUnion fills a type that JSON shows as one of two things: mostly one of them is set.
func (f *filler) fillUnion(v reflect.Value) bool {
	special, ok := specials[v.Type()]
	if !ok || special != typeOrBool && special != typeOrList {
		return false
	}
	first, second := v.Field(0), v.Field(1)
	choice := f.random.IntN(8)
	if f.full { // in turns, as long as there is a choice
		if f.unions == nil {
			f.unions = map[reflect.Type]int{}
		}
		choice = f.unions[v.Type()] % 2
		f.unions[v.Type()] += b2i(f.wanted(schemaOf(v)))
	}
	if choice%2 == 0 {
		f.fill(first)
	}
	if choice%2 == 1 || f.wild && choice == 0 {
		f.fill(second)
	}
	if special == typeOrBool && !f.wild && !second.IsNil() {
		first.SetBool(true)
	}
	return true
}

// schemaOf gives the type that the field Schema points to.
func schemaOf(v reflect.Value) reflect.Type {
	return v.FieldByName("Schema").Type().Elem()
}
