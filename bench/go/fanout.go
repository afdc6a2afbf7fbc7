// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// The rows of bench_informer.c with client-go's SharedIndexInformer and a fake watch.

// burst is the room of the watch's channel, as ours gives so many events in one piece.
const burst = 50

// countingHandler counts events, and signals when there are as many as expected.
type countingHandler struct {
	delivered atomic.Int64
	target    atomic.Int64
	reached   chan struct{}
}

func newCountingHandler() *countingHandler {
	h := &countingHandler{reached: make(chan struct{}, 1)}
	h.target.Store(-1)
	return h
}

func (h *countingHandler) count() {
	if h.delivered.Add(1) == h.target.Load() {
		h.reached <- struct{}{}
	}
}

func (h *countingHandler) expect(more int) { h.target.Store(h.delivered.Load() + int64(more)) }
func (h *countingHandler) await()          { <-h.reached }

func (h *countingHandler) OnAdd(interface{}, bool)   { h.count() }
func (h *countingHandler) OnUpdate(_, _ interface{}) { h.count() }
func (h *countingHandler) OnDelete(interface{})      { h.count() }

type fanout struct {
	o          *options
	pods       []corev1.Pod
	watcher    *watch.FakeWatcher
	informer   cache.SharedIndexInformer
	stop       func()
	handlers   []*countingHandler
	generation uint64
	position   int
	ns, cpu    []float64
}

// makeInformer gives one that is not started; f.stop ends it.
func (f *fanout) makeInformer() (start func()) {
	f.watcher = watch.NewFakeWithChanSize(burst, false)
	f.handlers = nil
	watcher := f.watcher
	f.informer = cache.NewSharedIndexInformerWithOptions(
		&cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (kruntime.Object, error) {
				return &corev1.PodList{
					ListMeta: metav1.ListMeta{ResourceVersion: "1"},
					Items:    f.pods,
				}, nil
			},
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return watcher, nil
			},
		},
		&corev1.Pod{},
		cache.SharedIndexInformerOptions{
			Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		})
	informer, stop := f.informer, make(chan struct{})
	var done sync.WaitGroup
	f.stop = func() {
		close(stop)
		done.Wait()
	}
	return func() { done.Go(func() { informer.Run(stop) }) }
}

func (f *fanout) add(h cache.ResourceEventHandler) cache.ResourceEventHandlerRegistration {
	registration, err := f.informer.AddEventHandler(h)
	must(err)
	return registration
}

// begin makes an informer with handlers and waits until they have received all pods.
func (f *fanout) begin(handlers int) {
	start := f.makeInformer()
	for range handlers {
		h := newCountingHandler()
		h.expect(len(f.pods))
		f.handlers = append(f.handlers, h)
		f.add(h)
	}
	start()
	for _, h := range f.handlers {
		h.await()
	}
}

// events are the next pods in an order of their own, each in a new state.
func (f *fanout) events() []*corev1.Pod {
	events := make([]*corev1.Pod, f.o.events)
	for i := range events {
		f.position = (f.position + 7919) % len(f.pods)
		f.generation++
		events[i] = newPod(uint64(f.position), uint64(f.position/100), f.generation)
	}
	return events
}

func (f *fanout) time(operations int, work func()) {
	runtime.GC()
	cpu, start := cpuSeconds(), time.Now()
	work()
	wall := float64(time.Since(start).Nanoseconds())
	f.ns = append(f.ns, wall/float64(operations))
	f.cpu = append(f.cpu, (cpuSeconds()-cpu)*1e9/float64(operations))
}

func (f *fanout) round(oneByOne bool) {
	events := f.events()
	all := func(do func(h *countingHandler)) {
		for _, h := range f.handlers {
			do(h)
		}
	}
	f.time(len(events), func() {
		if !oneByOne {
			all(func(h *countingHandler) { h.expect(len(events)) })
		}
		for i, pod := range events {
			events[i] = nil // given away
			if oneByOne {
				all(func(h *countingHandler) { h.expect(1) })
			}
			f.watcher.Modify(pod)
			if oneByOne {
				all((*countingHandler).await)
			}
		}
		if !oneByOne {
			all((*countingHandler).await)
		}
	})
}

func (f *fanout) rounds(oneByOne bool) {
	f.round(oneByOne) // to warm up
	f.ns, f.cpu = nil, nil
	for range f.o.rounds {
		f.round(oneByOne)
	}
}

// blockedHandler is a handler that never returns from its first update, until it is released.
type blockedHandler struct {
	*countingHandler
	released chan struct{}
}

func (s *blockedHandler) OnUpdate(_, _ interface{}) { <-s.released }

func (f *fanout) slow() (memory float64) {
	f.begin(1)
	still := &blockedHandler{countingHandler: newCountingHandler(), released: make(chan struct{})}
	still.expect(len(f.pods))
	f.add(still)
	still.await()
	before := heapBytes()
	for range f.o.rounds {
		f.round(false)
	}
	memory = max(0, heapBytes()-before) / float64(f.o.events*f.o.rounds)
	close(still.released)
	f.stop()
	return memory
}

func (f *fanout) firstSync() {
	for range f.o.rounds {
		start := f.makeInformer()
		h := newCountingHandler()
		h.expect(len(f.pods))
		f.add(h)
		f.time(len(f.pods), func() {
			start()
			h.await()
		})
		f.stop()
	}
}

func (f *fanout) late() {
	f.begin(1)
	for range f.o.rounds {
		h := newCountingHandler()
		h.expect(len(f.pods))
		var registration cache.ResourceEventHandlerRegistration
		f.time(len(f.pods), func() {
			registration = f.add(h)
			h.await()
		})
		must(f.informer.RemoveEventHandler(registration))
	}
	f.stop()
}

func medianOf(values []float64) float64 {
	sort.Float64s(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

func (f *fanout) print(handlers int, memory float64) {
	ns, cpu := medianOf(f.ns), medianOf(f.cpu)
	line := []member{{"objects", len(f.pods)}}
	if handlers != 0 {
		line = append(line, member{"readers", handlers},
			member{"callback_ns", ns / float64(handlers)},
			member{"callback_cpu_ns", cpu / float64(handlers)})
	}
	line = append(line, member{"ns", ns}, member{"ns_min", f.ns[0]},
		member{"ns_max", f.ns[len(f.ns)-1]}, member{"cpu_ns", cpu})
	if memory >= 0 {
		line = append(line, member{"memory", memory})
	}
	printLine("informer", f.o.row, append(line, member{"rounds", len(f.ns)})...)
}

func runFanout(o *options) {
	f := &fanout{o: o, pods: make([]corev1.Pod, o.objects)}
	for i := range f.pods {
		f.pods[i] = *newPod(uint64(i), uint64(i/100), 0)
	}
	switch o.row {
	case "fanout", "trickle":
		f.begin(o.readers)
		f.rounds(o.row == "trickle")
		f.stop()
		f.print(o.readers, -1)
	case "slow":
		f.print(2, f.slow())
	case "first_sync":
		f.firstSync()
		f.print(0, -1)
	case "late":
		f.late()
		f.print(0, -1)
	default:
		fail("no such row: %s", o.row)
	}
}
