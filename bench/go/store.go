// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// counter has a cache line of its own: each worker has one.
type counter struct {
	ops atomic.Int64
	_   [120]byte
}

// env is a store and the objects to work on it with: two states of each pod, and their keys.
type env struct {
	indexer    cache.Indexer
	pods       [2][]interface{}
	keys       []string
	namespaces []string
	perNS      int
	names      []string
	selector   labels.Selector
	lister     listers.PodLister
}

func newEnv(o *options) *env {
	e := &env{
		indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
	}
	for i := range o.objects {
		ns := i / o.perNS
		for state := range e.pods {
			e.pods[state] = append(e.pods[state], newPod(uint64(i), uint64(ns), uint64(state)))
		}
		pod := e.pods[0][i].(*corev1.Pod)
		e.keys = append(e.keys, pod.Namespace+"/"+pod.Name)
		e.names = append(e.names, pod.Name)
		if i%o.perNS == 0 {
			e.namespaces = append(e.namespaces, pod.Namespace)
		}
	}
	e.perNS = o.perNS
	e.lister = listers.NewPodLister(e.indexer)
	var err error
	if e.selector, err = labels.Parse("tier=edge"); err != nil {
		fail("%v", err)
	}
	if err := e.indexer.Replace(e.pods[0], "1"); err != nil {
		fail("%v", err)
	}
	return e
}

// worker makes the function that does one operation. Each goroutine has its own.
type worker func(e *env, seed uint64) func()

const batch = 100 // changes in a transaction of update100

// changes gives the next state of random objects.
func changes(e *env, seed uint64) func() interface{} {
	state := make([]uint8, len(e.keys))
	return func() interface{} {
		i := random(&seed) % uint64(len(e.keys))
		state[i] ^= 1
		return e.pods[state[i]][i]
	}
}

var workers = map[string]worker{
	"get": func(e *env, seed uint64) func() {
		return func() {
			obj, exists, err := e.indexer.GetByKey(e.keys[random(&seed)%uint64(len(e.keys))])
			if err != nil || !exists || obj.(*corev1.Pod).ResourceVersion == "" {
				fail("get: an object is missing, or has no resource version")
			}
		}
	},
	"lookup": func(e *env, seed uint64) func() {
		return func() {
			obj, exists, err := e.indexer.GetByKey(e.keys[random(&seed)%uint64(len(e.keys))])
			if err != nil || !exists || obj == nil {
				fail("lookup: an object is missing")
			}
		}
	},
	"list": func(e *env, seed uint64) func() {
		return func() {
			visit(e.indexer.List(), len(e.keys))
		}
	},
	"list_match": func(e *env, seed uint64) func() {
		return func() {
			count := 0
			err := cache.ListAll(e.indexer, e.selector, func(obj interface{}) {
				count++
			})
			if err != nil || count == 0 {
				fail("list_match: nothing matches")
			}
		}
	},
	"by_index": func(e *env, seed uint64) func() {
		return func() {
			list, err := e.indexer.ByIndex(cache.NamespaceIndex,
				e.namespaces[random(&seed)%uint64(len(e.namespaces))])
			if err != nil {
				fail("by_index: %v", err)
			}
			visit(list, 1)
		}
	},
	"lister_get": func(e *env, seed uint64) func() {
		return func() {
			i := int(random(&seed) % uint64(len(e.names)))
			pod, err := e.lister.Pods(e.namespaces[i/e.perNS]).Get(e.names[i])
			if err != nil || pod.ResourceVersion == "" {
				fail("lister_get: an object is missing, or has no resource version")
			}
		}
	},
	"lister_list": func(e *env, seed uint64) func() {
		return func() {
			list, err := e.lister.Pods(e.namespaces[random(&seed)%uint64(len(e.namespaces))]).
				List(labels.Everything())
			if err != nil {
				fail("lister_list: %v", err)
			}
			visitPods(list)
		}
	},
	"lister_select": func(e *env, seed uint64) func() {
		return func() {
			list, err := e.lister.List(e.selector)
			if err != nil {
				fail("lister_select: %v", err)
			}
			visitPods(list)
		}
	},
	"update": func(e *env, seed uint64) func() {
		change := changes(e, seed)
		return func() {
			if err := e.indexer.Update(change()); err != nil {
				fail("update: %v", err)
			}
		}
	},
	"update100": func(e *env, seed uint64) func() {
		change := changes(e, seed)
		store := e.indexer.(cache.TransactionStore)
		return func() {
			txns := make([]cache.Transaction, batch)
			for i := range txns {
				txns[i] = cache.Transaction{Object: change(), Type: cache.TransactionTypeUpdate}
			}
			if err := store.Transaction(txns...); err != nil {
				fail("update100: %v", err)
			}
		}
	},
	"replace": func(e *env, seed uint64) func() {
		state := 0
		return func() {
			state ^= 1
			if err := e.indexer.Replace(e.pods[state], "2"); err != nil {
				fail("replace: %v", err)
			}
		}
	},
}

// visit looks at every pointer of a list.
func visit(list []interface{}, atLeast int) {
	count := 0
	for _, obj := range list {
		if obj != nil {
			count++
		}
	}
	if count < atLeast {
		fail("a list is too short: %d", count)
	}
}

// visitPods looks at every pointer of a list.
func visitPods(list []*corev1.Pod) {
	count := 0
	for _, pod := range list {
		if pod != nil {
			count++
		}
	}
	if count == 0 {
		fail("a list is empty")
	}
}

func sum(counters []counter) int64 {
	total := int64(0)
	for i := range counters {
		total += counters[i].ops.Load()
	}
	return total
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail("%v", err)
	}
	return float64(usage.Utime.Sec+usage.Stime.Sec) +
		float64(usage.Utime.Usec+usage.Stime.Usec)/1e6
}

// result is what was done between two looks at the counters.
type result struct {
	writes, reads int64
	wall, cpu     float64
}

// window waits for the warm-up, then measures for the given time.
func window(seconds float64, writes, reads func() int64) result {
	time.Sleep(time.Duration(min(0.3, seconds/5) * 1e9))
	r := result{writes: -writes(), reads: -reads(), cpu: -cpuSeconds()}
	start := time.Now()
	time.Sleep(time.Duration(seconds * 1e9))
	r.writes += writes()
	r.reads += reads()
	r.wall = time.Since(start).Seconds()
	r.cpu += cpuSeconds()
	return r
}

func (r *result) print(o *options, bench, row string, extra ...member) {
	line := []member{
		{"objects", o.objects}, {"readers", o.readers},
		{"writes", r.writes}, {"reads", r.reads},
		{"writes_s", float64(r.writes) / r.wall}, {"reads_s", float64(r.reads) / r.wall},
		{"wall_s", r.wall}, {"cpu_s", r.cpu},
	}
	printLine(bench, row, append(line, extra...)...)
}

// parseRow splits "writer+reader", "writer" or "reader".
func parseRow(row string) (writer, reader string) {
	for _, name := range strings.Split(row, "+") {
		switch name {
		case "update", "update100", "replace":
			writer = name
		case "get", "lookup", "list", "list_match", "by_index", "lister_get", "lister_list",
			"lister_select":
			reader = name
		default:
			fail("no such row: %s", row)
		}
	}
	return writer, reader
}

func runStore(o *options) {
	row := o.row
	if row == "shared_store" { // the store's part of client-go's BenchmarkSharedIndexInformer
		row = "update+by_index"
		o.perNS = o.objects
	}
	writer, reader := parseRow(row)
	if reader == "" {
		o.readers = 0
	} else if writer == "" && o.readers == 0 {
		fail("%s needs readers", o.row)
	}
	e := newEnv(o)
	runtime.GC()

	var stop atomic.Bool
	var done sync.WaitGroup
	begin := make(chan struct{})
	counters := make([]counter, o.readers+1) // the writer's is the last
	start := func(name string, index int) {
		work := workers[name](e, mix(uint64(index)+1))
		each := int64(1)
		if name == "update100" {
			each = batch
		}
		done.Add(1)
		go func() {
			defer done.Done()
			<-begin
			for !stop.Load() {
				work()
				counters[index].ops.Add(each)
			}
		}()
	}
	for i := range o.readers {
		start(reader, i)
	}
	if writer != "" {
		start(writer, o.readers)
	}
	close(begin)
	r := window(o.seconds, counters[o.readers].ops.Load,
		func() int64 { return sum(counters[:o.readers]) })
	stop.Store(true)
	done.Wait()
	r.print(o, "store", o.row)
}

// runIndexer does the work of client-go's BenchmarkIndexer: 5,000 strings, one index, nothing
// changes.
func runIndexer(o *options) {
	const count = 5000
	store := cache.NewThreadSafeStore(cache.Indexers{
		"self": func(obj interface{}) ([]string, error) {
			return []string{obj.(string)}, nil
		},
	}, cache.Indices{})
	objects := make([]string, count)
	for i := range objects {
		objects[i] = fmt.Sprintf("object-number-%d", i)
		store.Update(objects[i], objects[i])
	}
	next := 0
	measure(o, []short{{bench: "store", row: "indexer", run: func(n int) {
		for range n {
			store.Update(objects[next], objects[next])
			if next++; next == count {
				next = 0
			}
		}
	}}})
}

func heapBytes() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// runMemory reports what the store itself takes for an object, the object not counted.
func runMemory(o *options) {
	e := newEnv(o)
	full := heapBytes()
	e.indexer = nil
	empty := heapBytes()
	printLine("store", "memory", member{"objects", o.objects},
		member{"memory", (full - empty) / float64(o.objects)})
	runtime.KeepAlive(e)
}
