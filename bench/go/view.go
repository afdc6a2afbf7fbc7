// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"

	corev1 "k8s.io/api/core/v1"
)

// The fields of bench_view.c, of the struct that the pod was decoded into.

func nodeName(pod *corev1.Pod) int64 {
	return int64(len(pod.Spec.NodeName))
}

func nested(pod *corev1.Pod) int64 {
	sum := int64(0)
	if context := pod.Spec.SecurityContext; context != nil && context.RunAsUser != nil {
		sum += *context.RunAsUser
	}
	if len(pod.Spec.Volumes) > 0 {
		if source := pod.Spec.Volumes[0].ConfigMap; source != nil && source.DefaultMode != nil {
			sum += int64(*source.DefaultMode)
		}
	}
	if len(pod.Spec.Containers) > 0 && pod.Spec.Containers[0].ReadinessProbe != nil {
		sum += int64(pod.Spec.Containers[0].ReadinessProbe.PeriodSeconds)
	}
	if len(pod.Status.ContainerStatuses) > 0 {
		sum += int64(pod.Status.ContainerStatuses[0].RestartCount)
	}
	return sum + pod.Generation
}

func images(pod *corev1.Pod) int64 {
	sum := int64(0)
	for i := range pod.Spec.Containers {
		sum += int64(len(pod.Spec.Containers[i].Image))
	}
	return sum
}

// runView reads fields of a decoded pod, and of pods that are decoded first, as an informer does
// once for each event.
func runView(o *options) {
	codec := newProtoCodec(o)
	pod, data := codec.pod()
	decode := func() *corev1.Pod {
		obj, _, err := codec.serializer.Decode(data, nil, nil)
		if err != nil {
			fail("%v", err)
		}
		return obj.(*corev1.Pod)
	}
	rows := []struct {
		row  string
		read func(*corev1.Pod) int64
	}{{"node_name", nodeName}, {"nested", nested}, {"images", images}}
	var cases []short
	sink := int64(0)
	add := func(row, comment string, run func(count int)) {
		cases = append(cases, short{bench: "view", row: row, run: run,
			extra: []member{{"comment", comment}}})
	}
	for _, r := range rows {
		add(r.row, "fields of a struct; decoding it is row decoded", func(count int) {
			for range count {
				sink += r.read(pod)
			}
		})
	}
	add("decoded", "protobuf to struct, then all of them", func(count int) {
		for range count {
			decoded := decode()
			for _, r := range rows {
				sink += r.read(decoded)
			}
		}
	})
	measure(o, cases)
	runtime.KeepAlive(sink)
}
