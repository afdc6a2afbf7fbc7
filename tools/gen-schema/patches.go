// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	stdjson "encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// One pair for both sides. The program gets three lines: how, object, patch. It responds with one:
// "ok " and the result, or "no " and why not.
type pair struct {
	kind   kind
	how    string // "strategic", "json", "merge": the patch is applied; "diff", "edit": see ours()
	object []byte
	patch  []byte
}

// What the judge says of a pair, in the order in which it is printed.
const (
	bothApply  = "both apply, same result"
	bothRefuse = "both refuse"
	different  = "DIFFERENT"
)

// exceptions are the differences that are on purpose. Each is a name, and whether it explains that
// one side refuses a pair or that the results differ. They are described in README.md.
var exceptions = []struct {
	name string
	fits func(p pair, got, want outcome) bool
}{
	{"the object is refused later", refusedLater},
	{"apimachinery panics", func(p pair, got, want outcome) bool { return want.panicked }},
	{"null instead of a patch", func(p pair, got, want outcome) bool {
		return got.why != "" && string(bytes.TrimSpace(p.patch)) == "null"
	}},
	{"directives left in the result", leftDirectives},
	{"null members inside lists", nullsInLists},
	{"depends on the order of a Go map", dependsOnOrder},
	{"pointer that RFC 6901 does not allow", func(p pair, got, want outcome) bool {
		return got.why != "" && anyPointer(p, isOddPointer)
	}},
	{"pointer to the whole document", func(p pair, got, want outcome) bool {
		return want.why != "" && anyPointer(p, func(pointer string) bool { return pointer == "" })
	}},
	{"copy of a member that does not exist", func(p pair, got, want outcome) bool {
		return strings.Contains(got.why, ", copy ") && strings.Contains(got.why, "does not exist")
	}},
	{"name with a NUL or too long", refusedName},
	{"test of a map with a null that was set", testsNull},
	{"merge key that is a map or a list", func(p pair, got, want outcome) bool {
		return strings.Contains(got.why, "merge key is not a scalar")
	}},
	{"move into itself", func(p pair, got, want outcome) bool {
		return strings.Contains(got.why, "moved into itself")
	}},
}

type outcome struct {
	result   []byte
	why      string // "" if the patch was applied
	panicked bool
}

// judge applies the patch as an API server does.
func judge(p pair) (out outcome) {
	defer func() {
		if r := recover(); r != nil {
			out = outcome{why: fmt.Sprintf("panic: %v", r), panicked: true}
		}
	}()
	var err error
	switch p.how {
	case "strategic":
		out.result, err = strategicpatch.StrategicMergePatch(slices.Clone(p.object),
			slices.Clone(p.patch), reflect.New(p.kind.goType).Interface())
	case "json", "edit":
		var operations jsonpatch.Patch
		if operations, err = jsonpatch.DecodePatch(p.patch); err == nil {
			out.result, err = operations.Apply(p.object)
		}
	default:
		out.result, err = jsonpatch.MergePatch(p.object, p.patch)
	}
	if err != nil {
		return outcome{why: "error: " + err.Error()}
	}
	return out
}

// compare reports how the outcome of a pair compares with that of apimachinery.
func compare(p pair, got outcome) string {
	want := judge(p)
	switch {
	case got.why != "" && want.why != "":
		return bothRefuse
	case got.why == "" && want.why == "" && sameJSON(got.result, want.result):
		return bothApply
	}
	for _, exception := range exceptions {
		if exception.fits(p, got, want) {
			return exception.name
		}
	}
	return different
}

// compareMade is the same for a patch that the library has made of two objects: Go must come from
// one to the other with it.
func compareMade(p pair, got outcome) string {
	if got.why != "" {
		return different
	}
	want := judge(pair{p.kind, p.how, p.object, got.result})
	after := p.patch
	if p.how == "diff" { // a merge patch cannot set null
		want.result, after = withoutNulls(want.result), withoutNulls(after)
	}
	if want.why != "" || !sameJSON(want.result, after) {
		return different
	}
	return bothApply
}

// ---- exceptions ----

// refusedLater: an API server would not have taken the result for an object either.
func refusedLater(p pair, got, want outcome) bool {
	valid := strings.Contains(got.why, "patched object: ") ||
		strings.Contains(got.why, " must be a map")
	if !valid || want.why != "" {
		return false
	}
	object := reflect.New(p.kind.goType).Interface()
	return json.Unmarshal(want.result, object) != nil
}

func refusedName(p pair, got, want outcome) bool {
	object, ok := any(nil), want.why == "" && strings.Contains(got.why, "patched object: ")
	if ok {
		object = decodeJSON(want.result)
	}
	top, _ := object.(map[string]any)
	meta, _ := top["metadata"].(map[string]any)
	names := []any{top["apiVersion"], top["kind"]}
	return slices.ContainsFunc(slices.AppendSeq(names, maps.Values(meta)), func(v any) bool {
		name, _ := v.(string)
		return strings.Contains(name, "\x00") || len(name) > 1024
	})
}

func leftDirectives(p pair, got, want outcome) bool {
	return p.how == "strategic" && got.why == "" && want.why == "" &&
		sameJSON(got.result, edited(want.result, dropDirectives))
}

func nullsInLists(p pair, got, want outcome) bool {
	inLists := func(v any) any { return dropNulls(v, false) }
	return p.how == "merge" && got.why == "" && want.why == "" &&
		sameJSON(edited(got.result, inLists), edited(want.result, inLists))
}

func dependsOnOrder(p pair, got, want outcome) bool {
	for range 64 {
		other := judge(p)
		refused := got.why != "" && (other.why != "" || refusedLater(p, got, other))
		clean := edited(other.result, dropDirectives)
		if p.how == "strategic" && (refused ||
			got.why == "" && other.why == "" && sameJSON(got.result, clean)) {
			return true
		}
	}
	return false
}

func anyPointer(p pair, odd func(string) bool) bool {
	var operations []map[string]any
	if p.how != "json" || stdjson.Unmarshal(p.patch, &operations) != nil {
		return false
	}
	for _, operation := range operations {
		for _, name := range []string{"path", "from"} {
			if pointer, ok := operation[name].(string); ok && odd(pointer) {
				return true
			}
		}
	}
	return false
}

// testsNull: Go takes a null that an operation has set for something else than one from before.
func testsNull(p pair, got, want outcome) bool {
	var operations []map[string]any
	if p.how != "json" || got.why != "" || !strings.Contains(want.why, "test failed") ||
		stdjson.Unmarshal(p.patch, &operations) != nil {
		return false
	}
	return slices.ContainsFunc(operations, func(operation map[string]any) bool {
		return operation["op"] != "test" && operation["op"] != "remove" && operation["value"] == nil
	})
}

// isOddPointer: no slash in front, an unknown escape, an index with a plus or leading zeros.
func isOddPointer(pointer string) bool {
	plain := strings.NewReplacer("~0", "", "~1", "").Replace(pointer)
	if pointer != "" && pointer[0] != '/' || strings.Contains(plain, "~") {
		return true
	}
	for _, step := range strings.Split(pointer, "/") {
		digits := strings.TrimLeft(step, "+-")
		if len(digits) < len(step)-1 || strings.HasPrefix(step, "+") ||
			len(digits) > 1 && digits[0] == '0' || step == "-0" {
			return true
		}
	}
	return false
}

// ---- JSON ----

func decodeJSON(data []byte) any {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		fail("not JSON: %v: %s", err, data)
	}
	return v
}

func encodeJSON(v any) []byte {
	var out bytes.Buffer
	encoder := stdjson.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		fail("cannot be JSON: %v", err)
	}
	return bytes.TrimSpace(out.Bytes())
}

func edited(data []byte, edit func(any) any) []byte {
	if data == nil {
		return nil
	}
	return encodeJSON(edit(decodeJSON(data)))
}

func sameJSON(a, b []byte) bool {
	return reflect.DeepEqual(plainNumbers(decodeJSON(a)), plainNumbers(decodeJSON(b)))
}

// plainNumbers: 1.0 and 1 are the same.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case float64:
		if v == float64(int64(v)) && v < 1<<53 && v > -(1<<53) {
			return int64(v)
		}
	case map[string]any:
		for name, member := range v {
			v[name] = plainNumbers(member)
		}
	case []any:
		for i, element := range v {
			v[i] = plainNumbers(element)
		}
	}
	return v
}

func isDirective(name string) bool {
	return name == "$patch" || name == "$retainKeys" || strings.HasPrefix(name, "$setElementOrder/") ||
		strings.HasPrefix(name, "$deleteFromPrimitiveList/")
}

func dropDirectives(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if isDirective(name) {
				delete(v, name)
			} else {
				v[name] = dropDirectives(member)
			}
		}
	case []any:
		for i, element := range v {
			v[i] = dropDirectives(element)
		}
	}
	return v
}

// dropNulls removes members that are null: all, or only those inside of lists.
func dropNulls(v any, all bool) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if v[name] = dropNulls(member, all); member == nil && all {
				delete(v, name)
			}
		}
	case []any:
		for i, element := range v {
			v[i] = dropNulls(element, true)
		}
	}
	return v
}

// withoutNulls is for objects whose lists are replaced as they are.
func withoutNulls(data []byte) []byte {
	var drop func(v any) any
	drop = func(v any) any {
		if m, ok := v.(map[string]any); ok {
			for name, member := range m {
				if m[name] = drop(member); member == nil {
					delete(m, name)
				}
			}
		}
		return v
	}
	return edited(edited(data, drop), func(v any) any { return dropNulls(v, false) })
}

// ---- the other side ----

// ours asks the program for the outcome of all pairs. For "diff" that is the merge patch from the
// object to what is in the place of the patch, for "edit" the JSON patch of such an edit.
func ours(program string, pairs []pair) []outcome {
	command := exec.Command(program)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		fail("%v", err)
	}
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		fail("%s: %v", program, err)
	}
	go func() {
		w := bufio.NewWriter(in)
		for _, p := range pairs {
			fmt.Fprintf(w, "%s\n%s\n%s\n", p.how, p.object, p.patch)
		}
		w.Flush()
		in.Close()
	}()
	outcomes := readOutcomes(out)
	if err := command.Wait(); err != nil || len(outcomes) != len(pairs) {
		fail("%s: %v, after %d of %d pairs", program, err, len(outcomes), len(pairs))
	}
	return outcomes
}

func readOutcomes(from io.Reader) []outcome {
	var outcomes []outcome
	reader := bufio.NewReader(from)
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return outcomes
		}
		line = strings.TrimSuffix(line, "\n")
		if result, ok := strings.CutPrefix(line, "ok "); ok {
			outcomes = append(outcomes, outcome{result: []byte(result)})
		} else {
			outcomes = append(outcomes, outcome{why: line})
		}
	}
}

// patches lets apimachinery judge random patches that a program has applied with the library.
func patches(args []string) {
	flags := flag.NewFlagSet("patches", flag.ExitOnError)
	count := flags.Int("count", 12000, "how many pairs of object and patch")
	seed := flags.Uint64("seed", 1, "other pairs for each")
	shown := flags.Int("show", 5, "how many differences to print")
	_ = flags.Parse(args)
	if flags.NArg() != 1 {
		fail(usage)
	}
	pairs := newPatchMaker(*seed).pairs(*count)
	counts := map[string]map[string]int{}
	failures := 0
	for i, got := range ours(flags.Arg(0), pairs) {
		p := pairs[i]
		said := ""
		if p.how == "diff" || p.how == "edit" {
			said = compareMade(p, got)
		} else {
			said = compare(p, got)
		}
		if counts[p.how] == nil {
			counts[p.how] = map[string]int{}
		}
		counts[p.how][said]++
		if said == different {
			if failures++; failures <= *shown {
				want := judge(p)
				fmt.Printf("pair %d, %s %s, %s\n  object: %s\n  patch: %s\n  ours: %s%s\n  Go: %s%s\n",
					i, p.kind.apiVersion, p.kind.name, p.how, p.object, p.patch, got.result,
					got.why, want.result, want.why)
			}
		}
	}
	for _, how := range slices.Sorted(maps.Keys(counts)) {
		for _, said := range slices.Sorted(maps.Keys(counts[how])) {
			fmt.Printf("%-10s %6d  %s\n", how, counts[how][said], said)
		}
	}
	fmt.Printf("%d pairs, %d different\n", len(pairs), failures)
	if failures > 0 || len(pairs) == 0 {
		os.Exit(1)
	}
}
