// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/runtime"
)

// Go writes every plain field and all in order, but reads them in any order, and older writers know
// fewer. sparse makes such bytes of an object: it takes fields away, and changes their order.
// Elements of a list and entries of a map stay together and in their order.
type sparse struct {
	model  *model
	random *rand.Rand
}

// wireRun is all occurrences of one field: whole, with their tags.
type wireRun struct {
	number   int
	contents [][]byte
	wires    []int
}

func wireRuns(data []byte) []*wireRun {
	var runs []*wireRun
	for len(data) > 0 {
		number, wire, content, rest := wireNext(data)
		data = rest
		if len(runs) == 0 || runs[len(runs)-1].number != number {
			runs = append(runs, &wireRun{number: number})
		}
		run := runs[len(runs)-1]
		run.contents = append(run.contents, content)
		run.wires = append(run.wires, wire)
	}
	return runs
}

func appendField(out []byte, number, wire int, content []byte) []byte {
	out = binary.AppendUvarint(out, uint64(number<<3|wire))
	if wire == wireBytes {
		out = binary.AppendUvarint(out, uint64(len(content)))
	}
	return append(out, content...)
}

// rewrite calls `inside` for each content that is kept, and puts all together again.
func (s *sparse) rewrite(data []byte, chance float64,
	inside func(run *wireRun, content []byte) []byte) []byte {
	runs := wireRuns(data)
	s.random.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	var out []byte
	for _, run := range runs {
		if s.random.Float64() < chance {
			continue
		}
		for i, content := range run.contents {
			if run.wires[i] == wireBytes {
				content = inside(run, content)
			}
			out = appendField(out, run.number, run.wires[i], content)
		}
	}
	return out
}

func (s *sparse) message(data []byte, table *messageTable) []byte {
	return s.rewrite(data, 0.3, func(run *wireRun, content []byte) []byte {
		for i := range table.fields {
			if f := &table.fields[i]; f.number == run.number {
				return s.field(f, run, content)
			}
		}
		return content
	})
}

func (s *sparse) field(f *field, run *wireRun, content []byte) []byte {
	if f.flags&flagMap == 0 {
		return s.value(f, content)
	}
	chance := 0.3
	if len(run.contents) > 1 {
		chance = 0 // two without key would be two with the same
	}
	return s.rewrite(content, chance, func(part *wireRun, content []byte) []byte {
		if part.number == 2 {
			return s.value(f, content)
		}
		return content
	})
}

func (s *sparse) value(f *field, content []byte) []byte {
	switch {
	case f.goType != nil:
		return s.message(content, s.model.messages[s.model.index[f.goType]])
	case f.kind > typeMessage && f.kind != typeItems:
		return s.rewrite(content, 0.3, func(_ *wireRun, content []byte) []byte { return content })
	}
	return content
}

// sparseRecord takes an object of some size apart, however it was filled.
func (c *codec) sparseRecord(m *model, k kind, number int) record {
	object, value := newObject(k)
	random := newRandom(k, -number)
	f := filler{random: random, density: 0.7, budget: 50}
	f.fillStruct(value)
	raw, err := object.(message).Marshal()
	if err != nil {
		fail("%s %s: %v", k.apiVersion, k.name, err)
	}
	s := sparse{m, random}
	raw = s.message(raw, m.messages[m.index[k.goType]])
	unknown := runtime.Unknown{
		TypeMeta: runtime.TypeMeta{APIVersion: k.apiVersion, Kind: k.name}, Raw: raw}
	data, err := unknown.Marshal()
	if err != nil {
		fail("%s %s: %v", k.apiVersion, k.name, err)
	}
	return c.finishRecord(k, append([]byte("k8s\x00"), data...))
}
