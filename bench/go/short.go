// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/util/jsonpath"
)

// runSelector matches the labels of one pod. The rows are those of bench_selector.c.
func runSelector(o *options) {
	pod := newPod(0, 0, 0)
	rows := []struct {
		row, selector string
		want          bool
	}{
		{"equal", "app.kubernetes.io/name=web", true},
		{"three", "app.kubernetes.io/name=web,tier in (edge, front),!canary", true},
		{"miss", "app.kubernetes.io/name=db", false},
	}
	var cases []short
	for _, r := range rows {
		selector, err := labels.Parse(r.selector)
		if err != nil {
			fail("%v", err)
		}
		cases = append(cases, short{bench: "selector", row: r.row, run: func(count int) {
			for range count {
				if selector.Matches(labels.Set(pod.Labels)) != r.want {
					fail("%s: wrong answer", r.row)
				}
			}
		}})
	}
	measure(o, cases)
}

// runPath reads paths with client-go's jsonpath on the decoded pod. The rows are those of
// bench_path.c.
func runPath(o *options) {
	text, err := os.ReadFile(o.pod)
	if err != nil {
		fail("%v", err)
	}
	var pod map[string]interface{}
	if err := json.Unmarshal(text, &pod); err != nil {
		fail("%v", err)
	}
	rows := []struct {
		row, path string
		want      int
	}{
		{"node_name", "{.spec.nodeName}", 1},
		{"label", `{.metadata.labels.app\.kubernetes\.io/name}`, 1},
		{"ready", `{.status.conditions[?(@.type=="Ready")].status}`, 1},
		{"images", "{..image}", 4},
	}
	var cases []short
	for _, r := range rows {
		path := jsonpath.New(r.row)
		if err := path.Parse(r.path); err != nil {
			fail("%v", err)
		}
		cases = append(cases, short{bench: "path", row: r.row, run: func(count int) {
			for range count {
				results, err := path.FindResults(pod)
				if err != nil || len(results) != 1 || len(results[0]) != r.want {
					fail("%s: wrong answer", r.row)
				}
			}
		}})
	}
	measure(o, cases)
}

// runJSON decodes the pod of data/pod.json as client-go's REST client does.
func runJSON(o *options) {
	text, err := os.ReadFile(o.pod)
	if err != nil {
		fail("%v", err)
	}
	scheme := kruntime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		fail("%v", err)
	}
	serializer := kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme, scheme,
		kjson.SerializerOptions{})
	decode := func() kruntime.Object {
		obj, _, err := serializer.Decode(text, nil, nil)
		if err != nil {
			fail("%v", err)
		}
		return obj
	}
	kept := make([]kruntime.Object, 1000)
	before := heapBytes()
	for i := range kept {
		kept[i] = decode()
	}
	memory := (heapBytes() - before) / float64(len(kept))
	runtime.KeepAlive(kept)
	size := float64(len(text))
	measure(o, []short{{bench: "json", row: "pod", run: func(count int) {
		for range count {
			decode()
		}
	}, extra: []member{{"bytes", size}, {"memory", memory}, {"memory_over", memory - size},
		{"comment", "decodes into a *corev1.Pod; garbage collection is part of it"}}}})
}
