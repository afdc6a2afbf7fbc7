// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/util/jsonpath"
)

// The pod of data/pod.json, and how it is decoded and written as protobuf with its envelope.
type protoCodec struct {
	text       []byte
	fromJSON   kruntime.Decoder
	serializer *protobuf.Serializer
}

func newProtoCodec(o *options) *protoCodec {
	text, err := os.ReadFile(o.pod)
	if err != nil {
		fail("%v", err)
	}
	scheme := kruntime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		fail("%v", err)
	}
	return &protoCodec{
		text: text,
		fromJSON: kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme, scheme,
			kjson.SerializerOptions{}),
		serializer: protobuf.NewSerializer(scheme, scheme),
	}
}

func (c *protoCodec) pod() (*corev1.Pod, []byte) {
	obj, _, err := c.fromJSON.Decode(c.text, nil, nil)
	if err != nil {
		fail("%v", err)
	}
	data, err := kruntime.Encode(c.serializer, obj)
	if err != nil {
		fail("%v", err)
	}
	return obj.(*corev1.Pod), data
}

// decodeCase measures a way to decode `size` bytes, and what a decoded pod takes.
func decodeCase(row string, size int, decode func() any, comment string) short {
	kept := make([]any, 1000)
	before := heapBytes()
	for i := range kept {
		kept[i] = decode()
	}
	memory := (heapBytes() - before) / float64(len(kept))
	runtime.KeepAlive(kept)
	return short{bench: "proto", row: row, run: func(count int) {
		for range count {
			decode()
		}
	}, extra: []member{{"bytes", size}, {"memory", memory}, {"memory_over", memory - float64(size)},
		{"comment", comment}}}
}

func protoPathCase(pod *corev1.Pod, row, text string, want int) short {
	path := jsonpath.New(row)
	if err := path.Parse(text); err != nil {
		fail("%v", err)
	}
	return short{bench: "proto", row: row, run: func(count int) {
		for range count {
			results, err := path.FindResults(pod)
			if err != nil || len(results) != 1 || len(results[0]) != want {
				fail("%s: wrong answer", row)
			}
		}
	}}
}

// runProto decodes and encodes the pod. The rows are those of bench_proto.c.
func runProto(o *options) {
	codec := newProtoCodec(o)
	pod, data := codec.pod()
	message, err := pod.Marshal()
	if err != nil {
		fail("%v", err)
	}
	measure(o, []short{
		decodeCase("pod", len(data), func() any {
			obj, _, err := codec.serializer.Decode(data, nil, nil)
			if err != nil {
				fail("%v", err)
			}
			return obj
		}, "decodes into a *corev1.Pod; garbage collection is part of it"),
		decodeCase("message", len(message), func() any {
			var decoded corev1.Pod
			if err := decoded.Unmarshal(message); err != nil {
				fail("%v", err)
			}
			return &decoded
		}, "Unmarshal alone; garbage collection is part of it"),
		protoPathCase(pod, "node_name", "{.spec.nodeName}", 1),
		protoPathCase(pod, "label", `{.metadata.labels.app\.kubernetes\.io/name}`, 1),
		protoPathCase(pod, "ready", `{.status.conditions[?(@.type=="Ready")].status}`, 1),
		{bench: "proto", row: "write_json", run: func(count int) {
			for range count {
				if _, err := json.Marshal(pod); err != nil {
					fail("%v", err)
				}
			}
		}},
		{bench: "proto", row: "json_to_protobuf", run: func(count int) {
			for range count {
				codec.pod()
			}
		}},
	})
}
