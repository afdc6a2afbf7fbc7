// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"
)

const (
	fewKeys     = 100
	burstKeys   = 10000
	delayedKeys = 100000
)

func makeKeys(prefix string, count int) []string {
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s-%d", prefix, i)
	}
	return keys
}

func getAndBeDone(q workqueue.TypedInterface[string]) {
	key, shutdown := q.Get()
	if shutdown {
		fail("shut down")
	}
	q.Done(key)
}

// runWorkqueue does the rows of bench_workqueue.c.
func runWorkqueue(o *options) {
	if o.row == "threads" {
		runWorkqueueThreads(o)
		return
	}
	keys := makeKeys("key", delayedKeys)
	cases := []short{
		{row: "add_get_done", run: func(count int) {
			q := workqueue.NewTyped[string]()
			for i := range count {
				q.Add(keys[i%fewKeys])
				getAndBeDone(q)
			}
			q.ShutDown()
		}},
		{row: "burst", operations: burstKeys, run: func(count int) {
			q := workqueue.NewTyped[string]()
			for range count {
				for i := range burstKeys {
					q.Add(keys[i])
				}
				for range burstKeys {
					getAndBeDone(q)
				}
			}
			q.ShutDown()
		}},
		{row: "add_after", operations: delayedKeys, run: func(count int) {
			seed := uint64(1)
			for range count {
				addAfter(keys, &seed)
			}
		}},
	}
	for i := range cases {
		cases[i].bench = "workqueue"
		if o.row == "all" || o.row == cases[i].row {
			measure(o, cases[i:i+1])
		}
	}
}

func addAfter(keys []string, seed *uint64) {
	clock := testingclock.NewFakeClock(time.Now())
	q := workqueue.NewTypedDelayingQueueWithConfig(
		workqueue.TypedDelayingQueueConfig[string]{Clock: clock})
	for _, key := range keys {
		q.AddAfter(key, time.Duration(random(seed)%uint64(10*time.Minute)))
	}
	clock.Step(11 * time.Minute)
	for range keys {
		q.Get()
	}
	q.ShutDown()
}

func runWorkqueueThreads(o *options) {
	q := workqueue.NewTyped[string]()
	counters := make([]counter, o.readers)
	var wait sync.WaitGroup
	for i := range counters {
		keys := makeKeys(fmt.Sprintf("key-%d", i), fewKeys)
		wait.Go(func() {
			for j := 0; ; j++ {
				q.Add(keys[j%fewKeys])
				key, shutdown := q.Get()
				if shutdown {
					return
				}
				q.Done(key)
				counters[i].ops.Add(1)
				if q.ShuttingDown() {
					return
				}
			}
		})
	}
	ops := func() (sum int64) {
		for i := range counters {
			sum += counters[i].ops.Load()
		}
		return sum
	}
	time.Sleep(time.Duration(o.seconds / 5 * 1e9))
	done, start, cpu := ops(), time.Now(), cpuSeconds()
	time.Sleep(time.Duration(o.seconds * 1e9))
	done = ops() - done
	wall, used := float64(time.Since(start).Nanoseconds()), (cpuSeconds()-cpu)*1e9
	q.ShutDown()
	wait.Wait()
	printLine("workqueue", "threads", member{"readers", o.readers},
		member{"ns", wall / float64(max(1, done))}, member{"cpu_ns", used / float64(max(1, done))})
}
