// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	perNamespace      = 500
	tokenVolumePrefix = "kube-api-access-"
)

// template is a pod as a cluster has it; from it comes everything in which pods do not differ.
type template struct {
	text []byte
}

func readTemplate(path string) (*template, error) {
	text, err := os.ReadFile(path)
	return &template{text: text}, err
}

// mix makes numbers that look random of numbers in a row.
func mix(bits uint64) uint64 {
	bits += 0x9e3779b97f4a7c15
	bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9
	bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb
	return bits ^ (bits >> 31)
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

func randomHex(seed uint64, count int) string {
	var text strings.Builder
	for ; text.Len() < count; seed++ {
		fmt.Fprintf(&text, "%016x", mix(seed))
	}
	return text.String()[:count]
}

func uid(seed uint64) types.UID {
	a, b := mix(seed), mix(mix(seed))
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x",
		a>>32, a>>16&0xffff, a&0xfff, b>>48&0xfff, b>>16))
}

func namespaceOf(number int) string {
	return fmt.Sprintf("team-%d", number/perNamespace)
}

// pod makes pod `number` in the state `generation`: the kubelet reports a restart in each.
func (t *template) pod(number, generation int) *corev1.Pod {
	var pod corev1.Pod
	if err := json.Unmarshal(t.text, &pod); err != nil {
		fail("the template: %v", err)
	}
	r := mix(uint64(number) + 1)
	namespace := namespaceOf(number)
	set := mix(uint64(number/perNamespace*64 + number%64))
	started := metav1.NewTime(time.Date(2026, 10, 1, 0, int(r%40000), int(r%60), 0, time.UTC))
	fillMetadata(&pod, number, namespace, randomName(set, 10), set, started)
	pod.Spec.NodeName = fmt.Sprintf("node-%d", r%997)
	pod.Spec.Containers[0].Image = fmt.Sprintf("registry.example/shop/web:4.17.%d", set%40)
	renameTokenVolume(&pod.Spec, tokenVolumePrefix+randomName(r, 5))
	fillStatus(&pod, number, generation, r, started)
	return &pod
}

func fillMetadata(pod *corev1.Pod, number int, namespace, hash string, set uint64,
	started metav1.Time) {
	r := mix(uint64(number) + 1)
	owner := pod.OwnerReferences[0]
	owner.Name, owner.UID = "web-"+hash, uid(set)
	meta := metav1.ObjectMeta{
		Name: "web-" + hash + "-" + randomName(mix(uint64(number)^(1<<40)), 8), Namespace: namespace,
		GenerateName: "web-" + hash + "-", Labels: pod.Labels, Annotations: pod.Annotations,
		OwnerReferences: []metav1.OwnerReference{owner},
	}
	meta.Labels["app.kubernetes.io/instance"] = "web-" + namespace
	meta.Labels["app.kubernetes.io/version"] = fmt.Sprintf("4.17.%d", set%40)
	meta.Labels["pod-template-hash"] = hash
	meta.Annotations["example.com/config-checksum"] = randomHex(r, 32)
	meta.Annotations["kubectl.kubernetes.io/restartedAt"] = started.Format(time.RFC3339)
	pod.ObjectMeta = meta
}

// renameTokenVolume gives a name to the volume that has a random one.
func renameTokenVolume(spec *corev1.PodSpec, name string) {
	rename := func(old string) string {
		if strings.HasPrefix(old, tokenVolumePrefix) {
			return name
		}
		return old
	}
	for i := range spec.Volumes {
		spec.Volumes[i].Name = rename(spec.Volumes[i].Name)
	}
	for i := range spec.Containers {
		for j := range spec.Containers[i].VolumeMounts {
			mount := &spec.Containers[i].VolumeMounts[j]
			mount.Name = rename(mount.Name)
		}
	}
}

func fillStatus(pod *corev1.Pod, number, generation int, r uint64, started metav1.Time) {
	status := &pod.Status
	ready := metav1.NewTime(started.Add(time.Duration(generation+1) * time.Minute))
	status.HostIP = fmt.Sprintf("10.0.%d.%d", r%997/250, r%997%250)
	status.HostIPs = []corev1.HostIP{{IP: status.HostIP}}
	status.PodIP = fmt.Sprintf("10.%d.%d.%d", 64+number/62500%64, number/250%250, number%250+1)
	status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	status.StartTime = &started
	for i := range status.Conditions {
		c := &status.Conditions[i]
		c.LastTransitionTime = started
		if c.Type == corev1.PodReady || c.Type == corev1.ContainersReady {
			c.LastTransitionTime = ready
		}
	}
	for i := range status.ContainerStatuses {
		c := &status.ContainerStatuses[i]
		c.ContainerID = "containerd://" + randomHex(r+uint64(generation*16+i*8), 64)
		c.State.Running.StartedAt = ready
		if last := c.LastTerminationState.Terminated; last != nil {
			last.StartedAt, last.FinishedAt = started, ready
			last.ContainerID = "containerd://" + randomHex(r+uint64(generation*16+i*8-16), 64)
			c.RestartCount = int32(generation)
		}
		if c.Name == "server" {
			c.Image = pod.Spec.Containers[0].Image
		}
	}
}
