// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The pods here are those of bench/support/pod.c in its small form: same names, same metadata.

// mix is bench_mix of bench/support/bench.c.
func mix(bits uint64) uint64 {
	bits += 0x9e3779b97f4a7c15
	bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9
	bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb
	return bits ^ (bits >> 31)
}

// random is bench_random of bench/support/bench.h.
func random(state *uint64) uint64 {
	*state ^= *state << 13
	*state ^= *state >> 7
	*state ^= *state << 17
	return *state
}

func randomName(bits uint64, count int) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	text := make([]byte, count)
	for i := range text {
		text[i] = letters[bits%uint64(len(letters))]
		bits /= uint64(len(letters))
	}
	return string(text)
}

func uid(seed uint64) types.UID {
	a := mix(seed)
	b := mix(a)
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x",
		a>>32, a>>16&0xffff, a&0xfff, b>>48&0xfff, b>>16))
}

func setOf(number, ns uint64) uint64 {
	return mix(ns*64 + number%64)
}

func namespaceName(ns uint64) string {
	return fmt.Sprintf("team-%d", ns)
}

func pointer[T any](value T) *T {
	return &value
}

// newPod makes pod `number` in namespace `ns`, in the state `generation`.
func newPod(number, ns, generation uint64) *corev1.Pod {
	r := mix(number + 1)
	set := setOf(number, ns)
	hash := randomName(set, 10)
	minutes := r % 40000
	created := metav1.NewTime(time.Date(2026, 10, int(minutes/1440%28+1), int(minutes/60%24),
		int(minutes%60), int(minutes*7%60), 0, time.UTC))
	stamp := created.UTC().Format(time.RFC3339)
	tier := "front"
	if r%4 == 0 {
		tier = "edge"
	}
	namespace := namespaceName(ns)
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{
			Name:              "web-" + hash + "-" + randomName(mix(number^(1<<40)), 8),
			GenerateName:      "web-" + hash + "-",
			Namespace:         namespace,
			UID:               uid(number ^ (1 << 41)),
			ResourceVersion:   fmt.Sprint(100000000 + number + generation*10000000),
			Generation:        1,
			CreationTimestamp: created,
			Labels: map[string]string{
				"app.kubernetes.io/component": "frontend",
				"app.kubernetes.io/instance":  "web-" + namespace,
				"app.kubernetes.io/name":      "web",
				"app.kubernetes.io/version":   fmt.Sprintf("4.17.%d", set%40),
				"pod-template-hash":           hash,
				"tier":                        tier,
			},
			Annotations: map[string]string{
				"example.com/config-checksum": fmt.Sprintf("%016x%016x", mix(r), mix(r+1)),
				"example.com/scrape":          "true",
				"example.com/scrape-port":     "9102",
				"example.com/sidecar-status": fmt.Sprintf(`{"revision":"r-%s","containers":["proxy"],`+
					`"volumes":["proxy-config"],"pullSecrets":null}`, randomName(r, 5)),
				"kubectl.kubernetes.io/restartedAt": stamp,
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-" + hash, UID: uid(set),
				Controller: pointer(true), BlockOwnerDeletion: pointer(true),
			}},
		},
		Spec: corev1.PodSpec{NodeName: fmt.Sprintf("node-%d", r%997)},
		Status: corev1.PodStatus{
			Phase:  corev1.PodRunning,
			HostIP: fmt.Sprintf("10.0.%d.%d", r%997/250, r%997%250),
			PodIP: fmt.Sprintf("10.%d.%d.%d", 64+number/62500%64, number/250%250,
				number%250+1),
			StartTime: &created,
		},
	}
}
