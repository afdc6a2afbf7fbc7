// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// queueEnv is what the rows of bench_queue.c work on: two states of each pod, and a store that has
// the first.
type queueEnv struct {
	pods      [2][]interface{}
	state     []uint8
	seed      uint64
	deltaFIFO *cache.DeltaFIFO
	fifo      *cache.RealFIFO
	indexer   cache.Indexer
	handler   cache.ResourceEventHandler
	delivered int
}

func newRealFIFO() *cache.RealFIFO {
	return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
		KeyFunction:           cache.MetaNamespaceKeyFunc,
		AtomicEvents:          true,
		UnlockWhileProcessing: true,
		EmitDeltaTypeBookmark: true,
	})
}

func newQueueEnv(o *options) *queueEnv {
	e := &queueEnv{
		state: make([]uint8, o.objects),
		seed:  mix(1),
		indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		fifo: newRealFIFO(),
	}
	for i := range o.objects {
		for state := range e.pods {
			e.pods[state] = append(e.pods[state], newPod(uint64(i), uint64(i/100), uint64(state)))
		}
	}
	e.handler = cache.ResourceEventHandlerFuncs{
		AddFunc:    func(interface{}) { e.delivered++ },
		UpdateFunc: func(_, _ interface{}) { e.delivered++ },
		DeleteFunc: func(interface{}) { e.delivered++ },
	}
	if err := e.indexer.Replace(e.pods[0], "1"); err != nil {
		fail("%v", err)
	}
	e.deltaFIFO = cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KnownObjects:          e.indexer,
		EmitDeltaTypeReplaced: true,
	})
	return e
}

// change gives the other state of a pod.
func (e *queueEnv) change(i int) interface{} {
	e.state[i] ^= 1
	return e.pods[e.state[i]][i]
}

func (e *queueEnv) base() int {
	return int(random(&e.seed) % uint64(len(e.state)))
}

func must(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func (e *queueEnv) ignore(obj interface{}, _ bool) error {
	e.delivered += len(obj.(cache.Deltas))
	return nil
}

func (e *queueEnv) ignoreBatch(deltas []cache.Delta, _ bool) error {
	e.delivered += len(deltas)
	return nil
}

// batches puts deltas into a queue, a batch at a time, and has each popped. The batches are always
// of the same pods, or of others each time.
func (e *queueEnv) batches(queue cache.Queue, count int, same bool, pop func(batch int)) {
	for count > 0 {
		base, batch := e.base(), min(count, 1000)
		for i := range batch {
			pod := i
			if !same {
				pod = (base + i*7919) % len(e.state)
			}
			must(queue.Update(e.change(pod)))
		}
		pop(batch)
		count -= batch
	}
}

// applyBatch does what the informer of client-go does with a batch, which it does not export.
func (e *queueEnv) applyBatch(deltas []cache.Delta, isInInitialList bool) error {
	store := e.indexer.(cache.TransactionStore)
	txns := make([]cache.Transaction, 0, len(deltas))
	callbacks := make([]func(), 0, len(deltas))
	for _, d := range deltas {
		obj := d.Object
		if old, exists, err := e.indexer.Get(obj); err == nil && exists {
			txns = append(txns, cache.Transaction{Type: cache.TransactionTypeUpdate, Object: obj})
			callbacks = append(callbacks, func() { e.handler.OnUpdate(old, obj) })
		} else {
			txns = append(txns, cache.Transaction{Type: cache.TransactionTypeAdd, Object: obj})
			callbacks = append(callbacks, func() { e.handler.OnAdd(obj, isInInitialList) })
		}
	}
	if err := store.Transaction(txns...); err != nil {
		return err
	}
	for _, callback := range callbacks {
		callback()
	}
	return nil
}

// applyOne does the same with a delta that comes alone: here, a whole list.
func (e *queueEnv) applyOne(obj interface{}, isInInitialList bool) error {
	delta := obj.(cache.Deltas)[0]
	info, ok := delta.Object.(cache.ReplacedAllInfo)
	if !ok {
		return e.applyBatch([]cache.Delta{delta}, isInInitialList)
	}
	type change struct{ old, new interface{} }
	listed := make(map[string]struct{}, len(info.Objects))
	changes := make([]change, 0, len(info.Objects))
	for _, obj := range info.Objects {
		key, err := cache.MetaNamespaceKeyFunc(obj)
		must(err)
		listed[key] = struct{}{}
		old, _, err := e.indexer.Get(obj)
		must(err)
		changes = append(changes, change{old, obj})
	}
	var gone []cache.DeletedFinalStateUnknown
	for _, key := range e.indexer.ListKeys() {
		if _, found := listed[key]; !found {
			old, _, _ := e.indexer.GetByKey(key)
			gone = append(gone, cache.DeletedFinalStateUnknown{Key: key, Obj: old})
		}
	}
	must(e.indexer.Replace(info.Objects, info.ResourceVersion))
	for _, obj := range gone {
		e.handler.OnDelete(obj)
	}
	for _, c := range changes {
		if c.old != nil {
			e.handler.OnUpdate(c.old, c.new)
		} else {
			e.handler.OnAdd(c.new, isInInitialList)
		}
	}
	return nil
}

func (e *queueEnv) relist(count int) {
	for range count {
		first := e.base() % 10
		list := make([]interface{}, len(e.state))
		for i := range list {
			if i%10 == first {
				e.state[i] ^= 1
			}
			list[i] = e.pods[e.state[i]][i]
		}
		must(e.fifo.Replace(list, "2"))
		must(e.fifo.PopBatch(e.applyBatch, e.applyOne))
	}
}

// runQueue does the rows of bench_queue.c with client-go's queues.
func runQueue(o *options) {
	e := newQueueEnv(o)
	popDeltaFIFO := func(batch int) {
		for range batch {
			_, err := e.deltaFIFO.Pop(e.ignore)
			must(err)
		}
	}
	popFIFO := func(process cache.ProcessBatchFunc, single cache.PopProcessFunc) func(int) {
		return func(batch int) {
			for start := e.delivered; e.delivered < start+batch; {
				must(e.fifo.PopBatch(process, single))
			}
		}
	}
	name := func(row string) string { return fmt.Sprintf("%s %d", row, o.objects) }
	measure(o, []short{
		{bench: "queue", row: name("delta_fifo"), run: func(count int) {
			for i := range count {
				must(e.deltaFIFO.Update(e.change(i % 1000)))
				popDeltaFIFO(1)
			}
		}},
		{bench: "queue", row: name("delta_fifo_1000"), run: func(count int) {
			e.batches(e.deltaFIFO, count, true, popDeltaFIFO)
		}},
		{bench: "queue", row: name("fifo_1000"), run: func(count int) {
			e.batches(e.fifo, count, true, popFIFO(e.ignoreBatch, e.ignore))
		}},
		{bench: "queue", row: name("apply"), run: func(count int) {
			e.batches(e.fifo, count, false, popFIFO(e.applyBatch, e.applyOne))
		}},
		{bench: "queue", row: name("relist"), run: e.relist},
	})
}
