// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/api/equality"
)

func readRecords(path string) []record {
	data, err := os.ReadFile(path)
	if err != nil {
		fail("%v", err)
	}
	var records []record
	for offset := 0; len(data) > 0; {
		var parts [5][]byte
		at := uint64(4 * len(parts))
		for i := range parts {
			end := at
			if uint64(len(data)) >= uint64(4*len(parts)) {
				end += uint64(binary.LittleEndian.Uint32(data[4*i:]))
			}
			if end > uint64(len(data)) {
				fail("%s: the record at %d is cut off", path, offset)
			}
			parts[i], at = data[at:end], end
		}
		records = append(records,
			record{string(parts[0]), string(parts[1]), parts[2], parts[3], parts[4]})
		data, offset = data[at:], offset+int(at)
	}
	return records
}

// verifyRecord tells whether Go reads the same object from the protobuf of a record as from its
// JSON, and whether Go would have written the very same bytes.
func (c *codec) verifyRecord(r record) (same bool, err error) {
	fromProtobuf, err := c.fromProtobuf(r.protobuf)
	if err != nil {
		return false, fmt.Errorf("protobuf: %w", err)
	}
	fromJSON, err := c.fromJSON(r.json)
	if err != nil {
		return false, fmt.Errorf("JSON: %w", err)
	}
	k := kind{apiVersion: r.apiVersion, name: r.kind}
	written, err := c.toProtobuf(k, fromJSON)
	if err != nil {
		return false, fmt.Errorf("Go cannot write it: %w", err)
	}
	if bytes.Equal(written, r.protobuf) {
		return true, nil
	}
	// Protobuf has no empty lists, so that Go's object also goes that way before they are compared.
	expected, err := c.fromProtobuf(written)
	if err != nil {
		return false, err
	}
	got, err := c.toJSON(k, fromProtobuf)
	if err != nil {
		return false, err
	}
	want, err := c.toJSON(k, expected)
	if err != nil {
		return false, err
	}
	if !equality.Semantic.DeepEqual(fromProtobuf, expected) || !bytes.Equal(got, want) {
		return false, errors.New("not the same object")
	}
	return false, nil
}

// verify reads files of records that the library wrote: the protobuf that it made of JSON.
func verify(paths []string) {
	c := newCodec()
	count, exact, failures := 0, 0, 0
	for _, path := range paths {
		for i, r := range readRecords(path) {
			count++
			same, err := c.verifyRecord(r)
			exact += b2i(same)
			if err != nil {
				failures++
				fmt.Printf("%s: record %d, %s %s: %v\n  JSON: %s\n  protobuf: %x\n", path, i,
					r.apiVersion, r.kind, err, r.json, r.protobuf)
			}
		}
	}
	fmt.Printf("%d objects: %d with Go's very bytes, %d others equal, %d wrong\n", count, exact,
		count-exact-failures, failures)
	if failures > 0 || count == 0 {
		os.Exit(1)
	}
}
