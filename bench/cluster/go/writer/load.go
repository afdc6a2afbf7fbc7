// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// loader puts pods into etcd itself, in the form in which the server stores them. The first pod is
// made by the server, and all others have what it added to that one: defaults and managedFields.
type loader struct {
	writer     *writer
	url        string
	client     *http.Client
	serializer *protobuf.Serializer
	model      *corev1.Pod
}

func newLoader(w *writer, etcd string) (*loader, error) {
	if err := w.create(0); err != nil {
		return nil, err
	}
	first := w.template.pod(0, 0)
	model, err := w.client.CoreV1().Pods(first.Namespace).Get(context.Background(), first.Name,
		metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	model.ResourceVersion = ""
	model.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	scheme := runtime.NewScheme()
	return &loader{
		writer: w, url: etcd + "/v3/kv/put", model: model,
		client:     &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}},
		serializer: protobuf.NewSerializer(scheme, scheme),
	}, nil
}

// pod is the model with all in which pods differ.
func (l *loader) pod(number int) *corev1.Pod {
	pod, made := l.model.DeepCopy(), l.writer.template.pod(number, 0)
	old := strings.NewReplacer(string(pod.OwnerReferences[0].UID), string(made.OwnerReferences[0].UID),
		`"`+pod.Status.PodIP+`\"`, `"`+made.Status.PodIP+`\"`)
	for i := range pod.ManagedFields {
		fields := pod.ManagedFields[i].FieldsV1
		fields.SetRawString(old.Replace(fields.GetRawString()))
	}
	pod.Name, pod.Namespace, pod.GenerateName = made.Name, made.Namespace, made.GenerateName
	pod.Labels, pod.Annotations = made.Labels, made.Annotations
	pod.OwnerReferences = made.OwnerReferences
	pod.UID = uid(uint64(number) ^ (1 << 41))
	pod.Spec.NodeName = made.Spec.NodeName
	pod.Spec.Containers[0].Image = made.Spec.Containers[0].Image
	renameTokenVolume(&pod.Spec, tokenVolume(&made.Spec))
	pod.Status = made.Status
	return pod
}

// tokenVolume is the name of the volume that has a random one.
func tokenVolume(spec *corev1.PodSpec) string {
	for i := range spec.Volumes {
		if strings.HasPrefix(spec.Volumes[i].Name, tokenVolumePrefix) {
			return spec.Volumes[i].Name
		}
	}
	return tokenVolumePrefix
}

func (l *loader) put(number int) error {
	var value bytes.Buffer
	pod := l.pod(number)
	if err := l.serializer.Encode(pod, &value); err != nil {
		return err
	}
	request, err := json.Marshal(map[string][]byte{
		"key":   []byte("/registry/pods/" + pod.Namespace + "/" + pod.Name),
		"value": value.Bytes(),
	})
	if err != nil {
		return err
	}
	return again(func() error { return l.send(request) })
}

func (l *loader) send(request []byte) error {
	response, err := l.client.Post(l.url, "application/json", bytes.NewReader(request))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var answer struct {
		Header struct{ Revision string }
	}
	if response.StatusCode != http.StatusOK || json.Unmarshal(body, &answer) != nil {
		return fmt.Errorf("etcd: %s: %s", response.Status, body)
	}
	l.writer.reach(answer.Header.Revision)
	return nil
}

// load fills the cluster with pods by way of etcd.
func (w *writer) load(count int, etcd string) {
	w.pods = count
	w.makeNamespaces(count)
	l, err := newLoader(w, etcd)
	if err != nil {
		fail("load: %v", err)
	}
	all(count-1, func(number int) error { return l.put(number + 1) })
}
