// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// A record of a file of vectors; tests/support/golden.h describes it.
type record struct {
	apiVersion, kind          string
	protobuf, json, rewritten []byte
}

func (r *record) append(out []byte) []byte {
	parts := [][]byte{[]byte(r.apiVersion), []byte(r.kind), r.protobuf, r.json, r.rewritten}
	for _, part := range parts {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(part)))
	}
	return append(out, bytes.Join(parts, nil)...)
}

// codec is what a Go client has: both serializers.
type codec struct {
	scheme   *runtime.Scheme
	protobuf *protobuf.Serializer
	json     *json.Serializer
}

func newCodec() *codec {
	scheme := newScheme()
	return &codec{scheme, protobuf.NewSerializer(scheme, scheme),
		json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme,
			json.SerializerOptions{})}
}

// toProtobuf wraps it itself, since a WatchEvent does not know its kind.
func (c *codec) toProtobuf(k kind, object runtime.Object) ([]byte, error) {
	raw, err := object.(message).Marshal()
	if err != nil {
		return nil, err
	}
	unknown := runtime.Unknown{
		TypeMeta: runtime.TypeMeta{APIVersion: k.apiVersion, Kind: k.name}, Raw: raw}
	data, err := unknown.Marshal()
	if err != nil {
		return nil, err
	}
	data = append([]byte("k8s\x00"), data...)
	var encoded bytes.Buffer
	object.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(k.apiVersion, k.name))
	if err := c.protobuf.Encode(object, &encoded); err != nil {
		return nil, err
	}
	if !bytes.Equal(data, encoded.Bytes()) && !withoutTypeMeta(object) {
		return nil, fmt.Errorf("%s: the serializer writes other bytes", k.name)
	}
	return data, nil
}

func withoutTypeMeta(object runtime.Object) bool {
	_, is := object.(*metav1.WatchEvent)
	return is
}

func (c *codec) fromProtobuf(data []byte) (runtime.Object, error) {
	object, _, err := c.protobuf.Decode(data, nil, nil)
	return object, err
}

// toJSON shows the kind always; a WatchEvent would not.
func (c *codec) toJSON(k kind, object runtime.Object) ([]byte, error) {
	var out bytes.Buffer
	if err := c.json.Encode(object, &out); err != nil {
		return nil, err
	}
	text := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	if withoutTypeMeta(object) {
		head := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,`, k.name, k.apiVersion)
		text = append([]byte(head), text[1:]...)
	}
	return text, nil
}

func (c *codec) fromJSON(data []byte) (runtime.Object, error) {
	object, _, err := c.json.Decode(data, nil, nil)
	return object, err
}

func (c *codec) makeRecord(k kind, object runtime.Object) record {
	data, err := c.toProtobuf(k, object)
	if err != nil {
		fail("%s %s: %v\n%+v", k.apiVersion, k.name, err, object)
	}
	return c.finishRecord(k, data)
}

// finishRecord decodes protobuf, then what JSON makes of it.
func (c *codec) finishRecord(k kind, data []byte) record {
	r := record{apiVersion: k.apiVersion, kind: k.name, protobuf: data}
	var decoded, again runtime.Object
	var rewritten []byte
	var err error
	for _, step := range []func(){
		func() { decoded, err = c.fromProtobuf(r.protobuf) },
		func() { r.json, err = c.toJSON(k, decoded) },
		func() { again, err = c.fromJSON(r.json) },
		func() { rewritten, err = c.toProtobuf(k, again) },
	} {
		if step(); err != nil {
			fail("%s %s: %v\n%q", k.apiVersion, k.name, err, data)
		}
	}
	if !bytes.Equal(rewritten, r.protobuf) {
		r.rewritten = rewritten
	}
	return r
}

// coverage knows which fields of which types were set in some object.
type coverage map[reflect.Type]map[int]bool

func newCoverage(m *model) coverage {
	covered := coverage{}
	for _, table := range m.messages {
		covered[table.goType] = map[int]bool{}
		for _, f := range table.fields {
			empty := f.goType != nil && f.goType.NumField() == 0
			covered[table.goType][f.goIndex] = empty // then there is nothing to set
		}
	}
	return covered
}

func (c coverage) note(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c.note(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.note(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			c.note(v.MapIndex(key))
		}
	case reflect.Struct:
		for i := range c[v.Type()] {
			if !v.Field(i).IsZero() {
				c[v.Type()][i] = true
			}
			c.note(v.Field(i))
		}
	}
}

func (c coverage) check() {
	for goType, fields := range c {
		for i, set := range fields {
			if !set {
				fail("%s.%s is set in no full object", typeName(goType), goType.Field(i).Name)
			}
		}
	}
}

// vectorKinds leaves out the kinds that each group has, but for those of the core group.
func vectorKinds() []kind {
	var kinds []kind
	for _, k := range allKinds() {
		everywhere := k.goType.PkgPath() == objectMetaType.PkgPath()
		if !everywhere || k.apiVersion == "v1" || strings.HasPrefix(k.apiVersion, "meta.k8s.io/") {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

func newObject(k kind) (runtime.Object, reflect.Value) {
	value := reflect.New(k.goType)
	return value.Interface().(runtime.Object), value.Elem()
}

func (c *codec) emptyRecord(k kind) record {
	object, _ := newObject(k)
	return c.makeRecord(k, object)
}

func newRandom(k kind, number int) *rand.Rand {
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s %s", k.apiVersion, k.name)
	return rand.New(rand.NewPCG(hash.Sum64(), uint64(number)))
}

func (c *codec) fullRecord(k kind, covered coverage) record {
	object, value := newObject(k)
	f := filler{random: newRandom(k, 0), full: true}
	f.fillStruct(value)
	covered.note(value)
	return c.makeRecord(k, object)
}

// randomRecord gives the object of a kind with this number, from 1, always the same. Every other
// one comes back from JSON as it was; sizes differ.
func (c *codec) randomRecord(k kind, number int) record {
	object, value := newObject(k)
	f := filler{random: newRandom(k, number), wild: number%2 == 0}
	f.density = []float64{0.3, 0.6, 0.4, 0.8}[(number-1)%4]
	f.budget = []int{40, 25, 90, 400, 10, 60, 1500, 40}[(number-1)%8]
	f.fillStruct(value)
	return c.makeRecord(k, object)
}

func encodeRecords(records []record) []byte {
	var out []byte
	for _, r := range records {
		out = r.append(out)
	}
	return out
}

// vectors writes the files of tests/data/protobuf, or with --random many more into some folder.
func vectors(args []string) {
	flags := flag.NewFlagSet("vectors", flag.ExitOnError)
	check := flags.Bool("check", false, "write nothing; fail if the committed files differ")
	many := flags.Int("random", 0, "random objects for each kind")
	folder := flags.String("dir", "", "where to write them: a file for each kind")
	if flags.Parse(args); flags.NArg() > 0 || (*many > 0) != (*folder != "") {
		fail(usage)
	}
	c := newCodec()
	if *many > 0 {
		manyVectors(c, *folder, *many)
		return
	}
	m := buildModel(allKinds())
	var empty, full, random, sparse []record
	covered := newCoverage(m)
	for _, k := range vectorKinds() {
		empty = append(empty, c.emptyRecord(k))
		full = append(full, c.fullRecord(k, covered))
		for number := 1; number <= 3; number++ {
			random = append(random, c.randomRecord(k, number))
		}
		sparse = append(sparse, c.sparseRecord(m, k, 1))
	}
	covered.check()
	var outputs []output
	for _, file := range []struct {
		name    string
		records []record
	}{{"empty", empty}, {"full", full}, {"random", random}, {"sparse", sparse}} {
		data := encodeRecords(file.records)
		outputs = append(outputs, output{"tests/data/protobuf/" + file.name + ".bin", data})
		fmt.Printf("%s: %d objects, %d bytes\n", file.name, len(file.records), len(data))
	}
	writeOutputs(outputs, *check)
}

// manyVectors also gives objects that were taken apart, one for each four.
func manyVectors(c *codec, folder string, many int) {
	m := buildModel(allKinds())
	objects, size := 0, 0
	for _, k := range vectorKinds() {
		var records []record
		for number := 1; number <= many; number++ {
			records = append(records, c.randomRecord(k, number))
			if number%4 == 0 {
				records = append(records, c.sparseRecord(m, k, number))
			}
		}
		name := strings.ReplaceAll(k.apiVersion, "/", "_") + "_" + k.name + ".bin"
		data := encodeRecords(records)
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			fail("%v", err)
		}
		size += len(data)
		objects += len(records)
	}
	fmt.Printf("%d objects, %d bytes\n", objects, size)
}
