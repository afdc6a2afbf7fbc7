// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// runWire decodes the lists of bench_wire into *corev1.PodList, as client-go's REST client does:
// from the whole body, which it reads first. One run is a whole list.
func runWire(o *options) {
	scheme := kruntime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		fail("%v", err)
	}
	rows := []struct {
		row, file string
		decoder   kruntime.Decoder
	}{
		{"list_json", "list.json", kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme,
			scheme, kjson.SerializerOptions{})},
		{"list_protobuf", "list.pb", protobuf.NewSerializer(scheme, scheme)},
	}
	var cases []short
	for _, r := range rows {
		body, err := os.ReadFile(filepath.Join(o.lists, r.file))
		if err != nil {
			fail("%v", err)
		}
		cases = append(cases, short{bench: "wire", row: r.row, run: func(count int) {
			for range count {
				obj, _, err := r.decoder.Decode(body, nil, nil)
				if err != nil {
					fail("%v", err)
				}
				if list, ok := obj.(*corev1.PodList); !ok || len(list.Items) != 1000 {
					fail("%s: not the list", r.row)
				}
			}
		}, extra: []member{{"bytes", len(body)}}})
	}
	measure(o, cases)
}
