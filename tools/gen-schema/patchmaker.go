// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// patchMaker makes random objects of all kinds, and patches for them, of which many are invalid.
type patchMaker struct {
	random *rand.Rand
	codec  *codec
	kinds  []kind
	rich   []kind // those with many lists that are merged
}

var richKinds = []string{"Pod", "Deployment", "StatefulSet", "Service", "ServiceAccount", "Node",
	"CronJob", "CustomResourceDefinition", "ValidatingWebhookConfiguration", "ResourceClaim",
	"CSINode", "ValidatingAdmissionPolicy", "PersistentVolumeClaim", "CertificateSigningRequest"}

func newPatchMaker(seed uint64) *patchMaker {
	m := &patchMaker{random: rand.New(rand.NewPCG(seed, 16)), codec: newCodec()}
	for _, k := range vectorKinds() {
		if _, ok := k.goType.FieldByName("ObjectMeta"); !ok {
			continue // lists and such, which nobody patches
		}
		m.kinds = append(m.kinds, k)
		if slices.Contains(richKinds, k.name) {
			m.rich = append(m.rich, k)
		}
	}
	return m
}

func (m *patchMaker) chance(percent int) bool {
	return m.random.IntN(100) < percent
}

func choose[T any](m *patchMaker, choices ...T) T {
	return choices[m.random.IntN(len(choices))]
}

func (m *patchMaker) pairs(count int) []pair {
	var pairs []pair
	for len(pairs) < count {
		k := choose(m, m.kinds...)
		if m.chance(60) {
			k = choose(m, m.rich...)
		}
		before := m.object(k)
		for range 4 {
			pairs = append(pairs, m.pair(k, before))
		}
	}
	return pairs[:count]
}

func (m *patchMaker) pair(k kind, before []byte) pair {
	after := encodeJSON(m.change(decodeJSON(before)))
	switch how := choose(m, "strategic", "strategic", "strategic", "json", "json", "merge", "diff",
		"edit"); how {
	case "strategic":
		return pair{k, how, before, m.strategic(k, before, after)}
	case "json":
		return pair{k, how, before, m.operations(decodeJSON(before), decodeJSON(after))}
	case "merge":
		return pair{k, how, before, m.merge(before, after)}
	case "edit": // needs a version to test
		object := decodeJSON(before).(map[string]any)
		meta, _ := object["metadata"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
			object["metadata"] = meta
		}
		meta["resourceVersion"] = "17"
		return pair{k, how, encodeJSON(object), after}
	default:
		return pair{k, how, before, after}
	}
}

// object makes one whose scalars differ in each list, as names in a list do: Go's way to remove
// duplicates depends on the capacity of a slice.
func (m *patchMaker) object(k kind) []byte {
	number := 1 + 2*m.random.IntN(1<<20)
	var r record
	if m.chance(15) {
		object, value := newObject(k)
		f := filler{random: m.random, full: true}
		f.fillStruct(value)
		r = m.codec.makeRecord(k, object)
	} else {
		r = m.codec.randomRecord(k, number)
	}
	return encodeJSON(distinct(decodeJSON(r.json)))
}

func distinct(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = distinct(member)
		}
	case []any:
		seen := map[any]bool{}
		return slices.DeleteFunc(v, func(element any) bool {
			switch element := element.(type) {
			case map[string]any, []any:
				distinct(element)
				return false
			default:
				twice := seen[element]
				seen[element] = true
				return twice
			}
		})
	}
	return v
}

// ---- changes ----

// change changes some of what is in a value, and keeps its types.
func (m *patchMaker) change(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch {
			case name == "kind" || name == "apiVersion":
			case m.chance(6):
				delete(v, name)
			case m.chance(60):
				v[name] = m.change(v[name])
			}
		}
		return v
	case []any:
		return m.changeList(v)
	case string:
		if m.chance(20) {
			return choose(m, "", "x", "True", v+"2", "a/b~c", "<é>")
		}
	case int64:
		if m.chance(30) {
			return choose(m, 0, 1, -7, v+1)
		}
	case bool:
		return v != m.chance(30)
	}
	return v
}

func (m *patchMaker) changeList(list []any) any {
	if len(list) == 0 {
		return list
	}
	if m.chance(25) {
		i := m.random.IntN(len(list))
		list = slices.Delete(list, i, i+1)
	}
	if m.chance(25) && len(list) > 0 {
		list = append(list, m.another(list[m.random.IntN(len(list))]))
	}
	if m.chance(25) {
		m.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	for i := range list {
		if _, ok := list[i].(map[string]any); ok && m.chance(70) {
			list[i] = m.change(list[i])
		}
	}
	return list
}

// another element, with other keys.
func (m *patchMaker) another(element any) any {
	switch element := decodeJSON(encodeJSON(element)).(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(element)) {
			switch value := element[name].(type) {
			case string:
				element[name] = value + strconv.Itoa(m.random.IntN(100))
			case int64:
				element[name] = value/2 + int64(m.random.IntN(100))
			}
		}
		return element
	case string:
		return element + strconv.Itoa(m.random.IntN(1000))
	case int64:
		return element/2 + int64(m.random.IntN(1000))
	default:
		return element
	}
}

// ---- strategic merge patches ----

func (m *patchMaker) strategic(k kind, before, after []byte) []byte {
	object := reflect.New(k.goType).Interface()
	if m.chance(2) {
		return m.broken(after)
	}
	var patch []byte
	var err error
	switch m.random.IntN(5) {
	case 0:
		patch = encodeJSON(m.part(decodeJSON(after)))
	case 1:
		meta, wrong := strategicpatch.NewPatchMetaFromStruct(object)
		if wrong != nil {
			fail("%v", wrong)
		}
		original := encodeJSON(m.change(decodeJSON(before)))
		patch, err = strategicpatch.CreateThreeWayMergePatch(original, after, before, meta, true)
	default:
		patch, err = strategicpatch.CreateTwoWayMergePatch(before, after, object)
	}
	if err != nil { // Go cannot compare all objects
		patch = encodeJSON(m.part(decodeJSON(after)))
	}
	if m.chance(45) {
		patch = encodeJSON(m.spoil(decodeJSON(patch), true))
	}
	return patch
}

// part leaves much of a value out.
func (m *patchMaker) part(v any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := []string{"name", "type", "ip", "uid", "mountPath", "containerPort", "port"}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if v[name] = m.part(v[name]); !slices.Contains(keys, name) && m.chance(50) {
				delete(v, name)
			}
		}
	case []any:
		for i := range v {
			v[i] = m.part(v[i])
		}
		if m.chance(50) && len(v) > 0 {
			return v[:m.random.IntN(len(v))]
		}
	}
	return v
}

// spoil puts things into a patch that make it another one, or invalid.
func (m *patchMaker) spoil(v any, strategic bool) any {
	places := mapsIn(v)
	for range 1 + m.random.IntN(3) {
		place := places[m.random.IntN(len(places))]
		names := slices.Sorted(maps.Keys(place))
		name := "none"
		if len(names) > 0 {
			name = choose(m, names...)
		}
		if strategic && m.chance(60) {
			m.direct(place, name)
			continue
		}
		switch m.random.IntN(6) {
		case 0:
			place[name] = nil
		case 1:
			delete(place, name)
		case 2:
			place[name] = choose[any](m, "x", 5, true, []any{}, map[string]any{}, []any{1, "a"},
				[]any{map[string]any{"a": nil}}, map[string]any{"b": nil, "c": "d"})
		case 3:
			place["unknown"] = choose[any](m, "x", map[string]any{"a": "b"}, []any{"c"})
		case 4:
			if list, ok := place[name].([]any); ok && len(list) > 0 {
				place[name] = append(list, list[m.random.IntN(len(list))])
			}
		default:
			if list, ok := place[name].([]any); ok && len(list) > 0 {
				list[m.random.IntN(len(list))] = choose[any](m, nil, "x", 7, []any{})
			}
		}
	}
	return v
}

// direct adds a directive to a map.
func (m *patchMaker) direct(place map[string]any, name string) {
	field := strings.TrimPrefix(strings.TrimPrefix(name, "$setElementOrder/"),
		"$deleteFromPrimitiveList/")
	list, _ := place[field].([]any)
	var some []any
	for _, element := range list {
		if m.chance(60) {
			some = append(some, decodeJSON(encodeJSON(element)))
		}
	}
	elements := any(some)
	if m.chance(10) {
		elements = choose[any](m, nil, "x", []any{1}, []any{[]any{}}, map[string]any{})
	}
	switch m.random.IntN(6) {
	case 0, 1:
		place["$patch"] = choose[any](m, "delete", "replace", "replace", "merge", "bogus", 5, nil)
	case 2:
		place["$setElementOrder/"+field] = elements
	case 3:
		place["$deleteFromPrimitiveList/"+field] = elements
	case 4:
		keys := []any{}
		for _, name := range slices.Sorted(maps.Keys(place)) {
			if m.chance(90) {
				keys = append(keys, name)
			}
		}
		place["$retainKeys"] = choose[any](m, keys, keys, keys, "x", []any{1, map[string]any{}})
	default:
		if m.chance(50) {
			place[choose(m, "$ref", "$other", "$setElementOrder", "$deleteFromPrimitiveList",
				"$setElementOrderX/a")] = []any{"x"}
			return
		}
		for _, element := range list {
			if map_, ok := element.(map[string]any); ok && m.chance(50) {
				map_["$patch"] = choose[any](m, "delete", "delete", "replace", "merge", "x")
				return
			}
		}
	}
}

// mapsIn gives all maps in a value, in an order that is always the same.
func mapsIn(v any) []map[string]any {
	var found []map[string]any
	switch v := v.(type) {
	case map[string]any:
		found = append(found, v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			found = append(found, mapsIn(v[name])...)
		}
	case []any:
		for _, element := range v {
			found = append(found, mapsIn(element)...)
		}
	}
	return found
}

// broken text, or no patch at all.
func (m *patchMaker) broken(text []byte) []byte {
	whole := []byte(`[1]`)
	if len(text) > 2 && m.chance(50) {
		cut := text[:1+m.random.IntN(len(text)-2)]
		for len(cut) > 0 && cut[len(cut)-1] >= 0x80 { // no half of a character
			cut = cut[:len(cut)-1]
		}
		return cut
	}
	return choose(m, whole, []byte(`null`), []byte(`"x"`), []byte(`{"a":}`), []byte(`7`), []byte{})
}

// ---- merge patches ----

func (m *patchMaker) merge(before, after []byte) []byte {
	if m.chance(3) {
		return m.broken(after)
	}
	var patch []byte
	var err error
	switch m.random.IntN(3) {
	case 0:
		patch = encodeJSON(m.part(decodeJSON(after)))
	case 1:
		original := encodeJSON(m.change(decodeJSON(before)))
		patch, err = jsonmergepatch.CreateThreeWayJSONMergePatch(original, after, before)
	default:
		patch, err = jsonpatch.CreateMergePatch(before, after)
	}
	if err != nil {
		fail("merge patch: %v", err)
	}
	if m.chance(50) {
		patch = encodeJSON(m.spoil(decodeJSON(patch), false))
	}
	return patch
}

// ---- JSON patches ----

func (m *patchMaker) operations(before, after any) []byte {
	if m.chance(2) {
		return m.broken(encodeJSON(after))
	}
	operations := []any{}
	for range m.random.IntN(6) {
		op := choose(m, "add", "remove", "replace", "move", "copy", "test")
		operation := map[string]any{"op": op}
		path, value := m.pointer(before)
		operation["path"] = path
		if op == "move" || op == "copy" {
			operation["from"], _ = m.pointer(before)
		} else if op != "remove" {
			if op != "test" || m.chance(10) {
				_, value = m.pointer(after)
			}
			operation["value"] = value
		}
		if m.chance(6) {
			m.spoilOperation(operation)
		}
		operations = append(operations, operation)
	}
	return encodeJSON(operations)
}

func (m *patchMaker) spoilOperation(operation map[string]any) {
	name := choose(m, "op", "path", "from", "value")
	if m.chance(40) {
		delete(operation, name)
	} else {
		operation[name] = choose[any](m, nil, "x", 7, []any{}, "", "/", "/~2", "/metadata/",
			"metadata/name", "/metadata/labels/-", map[string]any{"a": nil})
	}
}

// pointer to a random place, and what is there.
func (m *patchMaker) pointer(v any) (string, any) {
	pointer := ""
	for range 1 + m.random.IntN(8) {
		switch value := v.(type) {
		case map[string]any:
			names := slices.Sorted(maps.Keys(value))
			if len(names) == 0 || m.chance(3) {
				return pointer + "/" + choose(m, "none", "a~1b", "", "0"), nil
			}
			name := choose(m, names...)
			pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			v = value[name]
		case []any:
			if len(value) == 0 || m.chance(15) {
				step := choose(m, "-", strconv.Itoa(len(value)), strconv.Itoa(len(value)+1), "-1",
					fmt.Sprint(-len(value)), fmt.Sprint(-len(value)-1), fmt.Sprint(-len(value)-2), "0",
					"00", "x", "+0")
				return pointer + "/" + step, v
			}
			i := m.random.IntN(len(value))
			pointer += "/" + strconv.Itoa(i)
			v = value[i]
		default:
			if m.chance(95) {
				return pointer, v
			}
			return pointer + "/x", v
		}
	}
	return pointer, v
}
