// SPDX-License-Identifier: Apache-2.0

// The client-go side of bench/cluster: a typed informer of all pods with one handler, which obeys
// the commands that all clients there obey. ../../README.md tells them. Whether it lists or streams
// is client-go's feature gate, KUBE_FEATURE_WatchListClient in the environment.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const keptMarks = 65536 // of the last events

// mark is one event: the version that it brought, and when the handler was called.
type mark struct {
	version uint64
	ns      int64
}

type program struct {
	informer cache.SharedIndexInformer
	events   atomic.Uint64 // after the first sync
	last     atomic.Uint64 // version of them
	wanted   atomic.Uint64 // version to report; 0: none
	marks    [keptMarks]mark
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "informer: "+format+"\n", args...)
	os.Exit(1)
}

func (p *program) tellIfReached() {
	wanted := p.wanted.Load()
	if wanted != 0 && p.last.Load() >= wanted && p.wanted.CompareAndSwap(wanted, 0) {
		fmt.Printf("reached %d %d\n", p.events.Load(), time.Now().UnixNano())
	}
}

func (p *program) take(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	number := p.events.Load()
	m := &p.marks[number%keptMarks]
	m.version, _ = strconv.ParseUint(object.(*corev1.Pod).ResourceVersion, 10, 64)
	m.ns = time.Now().UnixNano()
	p.last.Store(m.version)
	p.events.Store(number + 1)
	p.tellIfReached()
}

func (p *program) handler() cache.ResourceEventHandlerDetailedFuncs {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInitial bool) {
			if !isInitial {
				p.take(object)
			}
		},
		UpdateFunc: func(_, object any) { p.take(object) },
		DeleteFunc: func(object any) { p.take(object) },
	}
}

// keepFive makes a pod of the fields that "five" of kinformer leaves: the identity, owners, two
// labels, node, phase and address.
func keepFive(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	labels := make(map[string]string, 2)
	for _, name := range []string{"app.kubernetes.io/name", "pod-template-hash"} {
		if value, ok := pod.Labels[name]; ok {
			labels[name] = value
		}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID,
			ResourceVersion: pod.ResourceVersion, Generation: pod.Generation,
			CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp,
			Labels: labels, OwnerReferences: pod.OwnerReferences,
		},
		Spec:   corev1.PodSpec{NodeName: pod.Spec.NodeName},
		Status: corev1.PodStatus{Phase: pod.Status.Phase, PodIP: pod.Status.PodIP},
	}, nil
}

func (p *program) start(kubeconfig, what string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	config.QPS = -1
	config.UserAgent = "bench-client-go"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	options := []informers.SharedInformerOption{}
	switch what {
	case "five":
		options = append(options, informers.WithTransform(keepFive))
	case "none":
		options = append(options, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = "metadata.name=none"
		}))
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, options...)
	p.informer = factory.Core().V1().Pods().Informer()
	registration, err := p.informer.AddEventHandler(p.handler())
	if err != nil {
		return err
	}
	factory.Start(context.Background().Done())
	for !registration.HasSynced() {
		time.Sleep(2 * time.Millisecond) // WaitForCacheSync looks every 100 ms
	}
	return nil
}

func (p *program) tellMarks() {
	end := p.events.Load()
	var text strings.Builder
	for i := end - min(end, keptMarks); i < end; i++ {
		fmt.Fprintf(&text, "%d %d\n", p.marks[i%keptMarks].version, p.marks[i%keptMarks].ns)
	}
	fmt.Print(text.String(), "done\n")
}

// tellMemory collects all garbage and returns free memory: less than a program has on its own.
func (p *program) tellMemory() {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("memory {\"objects\":%d,\"heap_in_use\":%d,\"collected\":true}\n",
		len(p.informer.GetStore().ListKeys()), m.HeapAlloc)
}

func (p *program) obey(line string) {
	words := strings.Fields(line)
	switch {
	case len(words) == 2 && words[0] == "until":
		wanted, _ := strconv.ParseUint(words[1], 10, 64)
		p.wanted.Store(wanted)
		p.tellIfReached()
	case line == "count":
		fmt.Printf("count %d\n", p.events.Load())
	case line == "marks":
		p.tellMarks()
	case line == "memory":
		p.tellMemory()
	default:
		fmt.Fprintf(os.Stderr, "no such command: %s\n", line)
	}
}

func main() {
	if len(os.Args) != 3 {
		fail("usage: informer <kubeconfig> whole|five|none")
	}
	p := &program{}
	if err := p.start(os.Args[1], os.Args[2]); err != nil {
		fail("%v", err)
	}
	fmt.Printf("synced %d %d\n", len(p.informer.GetStore().ListKeys()), time.Now().UnixNano())
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() && input.Text() != "quit" {
		p.obey(input.Text())
	}
}
