// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// newInformer runs a shared informer over `pods` that listens to `watcher`, and waits until it has
// synced. The function it returns stops it.
func newInformer(pods []corev1.Pod, watcher watch.Interface) (cache.SharedIndexInformer, func()) {
	informer := cache.NewSharedIndexInformerWithOptions(
		&cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (kruntime.Object, error) {
				return &corev1.PodList{
					ListMeta: metav1.ListMeta{ResourceVersion: "1"},
					Items:    pods,
				}, nil
			},
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return watcher, nil
			},
		},
		&corev1.Pod{},
		cache.SharedIndexInformerOptions{
			ResyncPeriod: time.Minute,
			Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		})
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() { informer.Run(stop) })
	for !informer.HasSynced() {
		time.Sleep(time.Millisecond)
	}
	return informer, func() {
		close(stop)
		done.Wait()
	}
}

// runInformer does the work of client-go's BenchmarkSharedIndexInformer for a fixed time: all pods
// in one namespace, a watch that modifies random pods with at most ten events under way, and
// readers that list the namespace. An update counts when the handler was called.
func runInformer(o *options) {
	const queued = 10
	pods := make([]corev1.Pod, o.objects)
	for i := range pods {
		pods[i] = *newPod(uint64(i), 0, 0)
	}
	namespace := pods[0].Namespace
	watcher := watch.NewFakeWithChanSize(1, false)
	informer, stopInformer := newInformer(pods, watcher)

	var writes atomic.Int64
	var stop atomic.Bool
	underWay := make(chan struct{}, queued)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, _ interface{}) {
			writes.Add(1)
			select {
			case <-underWay:
			default:
			}
		},
	})
	if err != nil {
		fail("%v", err)
	}
	seed := mix(1)
	modify := func() {
		pod := pods[random(&seed)%uint64(len(pods))]
		watcher.Modify(&pod)
	}
	modify()
	for writes.Load() == 0 { // the handler has received all pods
		time.Sleep(time.Millisecond)
	}
	runtime.GC()

	var done sync.WaitGroup
	counters := make([]counter, o.readers)
	for i := range counters {
		done.Go(func() {
			for !stop.Load() {
				err := cache.ListAllByNamespace(informer.GetIndexer(), namespace,
					labels.Everything(), func(interface{}) {})
				if err != nil {
					fail("%v", err)
				}
				counters[i].ops.Add(1)
			}
		})
	}
	done.Go(func() {
		for !stop.Load() {
			modify()
			underWay <- struct{}{}
		}
	})
	r := window(o.seconds, writes.Load, func() int64 { return sum(counters) })
	stop.Store(true)
	done.Wait()
	stopInformer()
	r.print(o, "store", "shared_informer")
}
