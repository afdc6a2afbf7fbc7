// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
)

// wire writes bodies of answers to LIST and WATCH, as an API server written in Go sends them, in
// both encodings. tests/unit/test_wire_golden.c knows what is in them.
func wire(args []string) {
	if len(args) > 1 || (len(args) == 1 && args[0] != "--check") {
		fail(usage)
	}
	c := newCodec()
	pods := &corev1.PodList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
		ListMeta: metav1.ListMeta{ResourceVersion: "900", Continue: "next",
			RemainingItemCount: new(int64)},
	}
	*pods.RemainingItemCount = 7
	for i := range 5 {
		pods.Items = append(pods.Items, *wirePod(i))
	}
	gone := &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure",
		Message: "too old resource version: 1 (900)", Reason: metav1.StatusReasonExpired, Code: 410,
		Details: &metav1.StatusDetails{RetryAfterSeconds: 2,
			Causes: []metav1.StatusCause{{Type: "ResourceVersionTooLarge"}}},
	}
	partial := &metav1.PartialObjectMetadataList{
		TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"},
		ListMeta: metav1.ListMeta{ResourceVersion: "901"},
		Items:    []metav1.PartialObjectMetadata{{ObjectMeta: wirePod(0).ObjectMeta}},
	}
	var outputs []output
	add := func(name string, data []byte) {
		outputs = append(outputs, output{"tests/data/wire/" + name, data})
	}
	for _, list := range []struct {
		name   string
		object runtime.Object
	}{{"pods", pods}, {"gone", gone}, {"partial", partial}} {
		add(list.name+".list.json", encode(c.json, list.object))
		add(list.name+".list.pb", encode(c.protobuf, list.object))
	}
	add("pods.watch.json", watchStream(c.json, json.Framer, json.NewSerializerWithOptions(
		json.DefaultMetaFactory, c.scheme, c.scheme, json.SerializerOptions{}), gone))
	add("pods.watch.pb", watchStream(c.protobuf, protobuf.LengthDelimitedFramer,
		protobuf.NewRawSerializer(c.scheme, c.scheme), gone))
	writeOutputs(outputs, len(args) == 1)
}

func wirePod(number int) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pod-%d", number), Namespace: "default",
			ResourceVersion: fmt.Sprint(100 + number), Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{NodeName: "node-1",
			Containers: []corev1.Container{{Name: "c", Image: "example/image:1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

func encode(encoder runtime.Encoder, object runtime.Object) []byte {
	var out bytes.Buffer
	if err := encoder.Encode(object, &out); err != nil {
		fail("%v", err)
	}
	return out.Bytes()
}

// watchStream is what the watch handler of apiserver does: the object encoded by itself, then the
// event around it, in the frames of the encoding.
func watchStream(objects runtime.Encoder, framer runtime.Framer, events runtime.Encoder,
	gone *metav1.Status) []byte {
	bookmark := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{ResourceVersion: "104", Annotations: map[string]string{
			metav1.InitialEventsAnnotationKey: "true"}},
	}
	var out bytes.Buffer
	writer := framer.NewFrameWriter(&out)
	for _, event := range []watch.Event{
		{Type: watch.Added, Object: wirePod(0)},
		{Type: watch.Bookmark, Object: bookmark},
		{Type: watch.Modified, Object: wirePod(1)},
		{Type: watch.Deleted, Object: wirePod(2)},
		{Type: watch.Error, Object: gone},
	} {
		whole := &metav1.WatchEvent{Type: string(event.Type),
			Object: runtime.RawExtension{Raw: encode(objects, event.Object)}}
		if _, err := writer.Write(encode(events, whole)); err != nil {
			fail("%v", err)
		}
	}
	return out.Bytes()
}
