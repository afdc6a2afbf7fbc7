// SPDX-License-Identifier: Apache-2.0

// Does on client-go what the C benchmarks do on libkinformer, and prints the same JSON lines with
// "impl":"client-go". See ../README.md for the rows.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"
)

type options struct {
	what    string
	row     string
	objects int
	readers int
	perNS   int
	events  int
	seconds float64
	rounds  int
	roundMS int
	pod     string
	lists   string
}

// member is one name and value of a line; a line keeps their order.
type member struct {
	name  string
	value any
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "benchmark: "+format+"\n", args...)
	os.Exit(1)
}

func printLine(bench, row string, members ...member) {
	var text strings.Builder
	fmt.Fprintf(&text, `{"bench":%q,"impl":"client-go","row":%q`, bench, row)
	for _, m := range members {
		value, err := json.Marshal(m.value)
		if err != nil {
			fail("%s: %v", m.name, err)
		}
		fmt.Fprintf(&text, ",%q:%s", m.name, value)
	}
	fmt.Println(text.String() + "}")
}

// short is work that is repeated: run does it count times.
type short struct {
	bench, row string
	run        func(count int)
	operations int // in one run, of which the times are; 0: 1
	extra      []member
}

// measure runs the cases in turn, round by round, as bench_measure of bench/support/bench.c does.
func measure(o *options, cases []short) {
	counts := make([]int, len(cases))
	times := make([][]float64, len(cases))
	cpu := make([][]float64, len(cases))
	for i, c := range cases {
		counts[i] = calibrate(c, float64(o.roundMS)*1e6)
	}
	for range o.rounds {
		for i, c := range cases {
			start, cpuStart := time.Now(), cpuSeconds()
			c.run(counts[i])
			operations := float64(counts[i] * max(1, c.operations))
			times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/operations)
			cpu[i] = append(cpu[i], (cpuSeconds()-cpuStart)*1e9/operations)
		}
	}
	for i, c := range cases {
		sort.Float64s(times[i])
		sort.Float64s(cpu[i])
		n := len(times[i])
		line := append([]member{
			{"ns", (times[i][(n-1)/2] + times[i][n/2]) / 2},
			{"ns_min", times[i][0]},
			{"ns_max", times[i][n-1]},
			{"cpu_ns", (cpu[i][(n-1)/2] + cpu[i][n/2]) / 2},
			{"rounds", n},
			{"runs", counts[i]},
		}, c.extra...)
		printLine(c.bench, c.row, line...)
	}
}

func calibrate(c short, wantNS float64) int {
	for count := 1; ; count *= 4 {
		start := time.Now()
		c.run(count)
		took := float64(time.Since(start).Nanoseconds())
		if took >= wantNS/8 {
			return max(1, int(float64(count)*wantNS/took))
		}
	}
}

func main() {
	var o options
	flag.StringVar(&o.what, "what", "", "what to run; see README.md")
	flag.StringVar(&o.row, "row", "get", "row of store or workqueue; see README.md")
	flag.IntVar(&o.objects, "objects", 10000, "objects in the store")
	flag.IntVar(&o.readers, "readers", 1, "readers")
	flag.IntVar(&o.perNS, "per-ns", 100, "objects in one namespace")
	flag.IntVar(&o.events, "events", 1000, "events of one round")
	flag.Float64Var(&o.seconds, "seconds", 2, "time that is measured")
	flag.IntVar(&o.rounds, "rounds", 15, "rounds of short work")
	flag.IntVar(&o.roundMS, "ms", 30, "of one kind of work in one round")
	flag.StringVar(&o.lists, "lists", ".", "the folder with list.json and list.pb")
	flag.StringVar(&o.pod, "pod", "../data/pod.json", "the pod as JSON")
	flag.Parse()

	// The fake server below never ends the initial events; with the streaming list client-go would
	// wait for ever. Feature gates are read from the environment when they are first used.
	if err := os.Setenv("KUBE_FEATURE_WatchListClient", "false"); err != nil {
		fail("%v", err)
	}
	runs := map[string]func(*options){
		"store": runStore, "indexer": runIndexer, "memory": runMemory, "informer": runInformer,
		"selector": runSelector, "path": runPath, "json": runJSON, "queue": runQueue,
		"proto": runProto, "view": runView, "wire": runWire, "workqueue": runWorkqueue,
		"fanout": runFanout,
	}
	run := runs[o.what]
	if run == nil || o.objects < 1 || o.perNS < 1 || o.readers < 0 || o.events < 1 ||
		o.rounds < 1 || o.roundMS < 1 {
		flag.Usage()
		os.Exit(2)
	}
	run(&o)
}
