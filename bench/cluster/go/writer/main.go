// SPDX-License-Identifier: Apache-2.0

// Fills a cluster with pods and changes them, by commands on its input:
//
//	fill <pods>            makes pods, each by one field manager, its status by another
//	load <pods> <etcd>     makes them the fast way; <etcd> is its URL
//	change                 changes the status of each pod once, as fast as it goes
//	rate <per s> <count>   changes pods one after the other at a steady rate; of each it prints
//	                       the resource version, when it was requested, and when it was answered
//	other <count>          changes something else, so that versions advance
//
// Each ends with a line "done ...", with the last resource version.
package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	workers  = 24
	attempts = 6
	maker    = "kube-controller-manager"
	kubelet  = "kubelet"
)

type writer struct {
	client     *kubernetes.Clientset
	template   *template
	pods       int
	generation int
	last       atomic.Uint64 // resource version
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "writer: "+format+"\n", args...)
	os.Exit(1)
}

func newWriter(kubeconfig, template string) (*writer, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.QPS = -1
	config.UserAgent = "bench-writer"
	config.WarningHandler = rest.NoWarnings{}
	w := &writer{}
	if w.client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	w.template, err = readTemplate(template)
	return w, err
}

// reach notes a resource version that was seen.
func (w *writer) reach(text string) uint64 {
	version, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		fail("resource version %q", text)
	}
	for {
		last := w.last.Load()
		if version <= last || w.last.CompareAndSwap(last, version) {
			return version
		}
	}
}

// all does something to `count` things, many at once, and ends the program on the first failure.
func all(count int, do func(number int) error) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for number := int(next.Add(1)) - 1; number < count; number = int(next.Add(1)) - 1 {
				if err := do(number); err != nil {
					fail("%d: %v", number, err)
				}
			}
		})
	}
	group.Wait()
}

// again does something until it succeeds: a machine with much to do may fail occasionally.
func again(do func() error) error {
	err := do()
	for i := 1; err != nil && i < attempts; i++ {
		fmt.Fprintf(os.Stderr, "writer: %v\n", err)
		time.Sleep(time.Second)
		err = do()
	}
	return err
}

func (w *writer) create(number int) error {
	err := again(func() error {
		pod := w.template.pod(number, 0)
		options := metav1.CreateOptions{FieldManager: maker}
		_, err := w.client.CoreV1().Pods(pod.Namespace).Create(context.Background(), pod, options)
		if errors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	if err == nil {
		_, err = w.update(number, 0)
	}
	return err
}

// update puts a status in place. It has no resource version: nobody else writes it.
func (w *writer) update(number, generation int) (uint64, error) {
	var version uint64
	err := again(func() error {
		pod := w.template.pod(number, generation)
		options := metav1.UpdateOptions{FieldManager: kubelet}
		pods := w.client.CoreV1().Pods(pod.Namespace)
		pod, err := pods.UpdateStatus(context.Background(), pod, options)
		if err == nil {
			version = w.reach(pod.ResourceVersion)
		}
		return err
	})
	return version, err
}

func (w *writer) makeNamespaces(count int) {
	all((count+perNamespace-1)/perNamespace, func(number int) error {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: namespaceOf(number * perNamespace)}}
		_, err := w.client.CoreV1().Namespaces().Create(context.Background(), namespace,
			metav1.CreateOptions{})
		if errors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

func (w *writer) fill(count int) {
	w.pods = count
	w.makeNamespaces(count)
	all(count, w.create)
}

func (w *writer) change() {
	w.generation++
	all(w.pods, func(number int) error {
		_, err := w.update(number, w.generation)
		return err
	})
}

// rate makes changes at moments that are fixed beforehand: a slow answer delays none of the others.
func (w *writer) rate(perSecond, count int) {
	w.generation++
	lines := make([]string, count)
	var group sync.WaitGroup
	start := time.Now()
	for i := range count {
		time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
		number := rand.IntN(w.pods)
		group.Go(func() {
			asked := time.Now().UnixNano()
			version, err := w.update(number, w.generation+i)
			if err != nil {
				fail("%d: %v", number, err)
			}
			lines[i] = fmt.Sprintf("%d %d %d\n", version, asked, time.Now().UnixNano())
		})
	}
	group.Wait()
	w.generation += count
	os.Stdout.WriteString(strings.Join(lines, ""))
}

func (w *writer) other(count int) {
	maps := w.client.CoreV1().ConfigMaps("default")
	for range count {
		made, err := maps.Create(context.Background(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}}, metav1.CreateOptions{})
		if err != nil {
			fail("other: %v", err)
		}
		w.reach(made.ResourceVersion)
	}
}

func (w *writer) obey(line string) {
	words := strings.Fields(line)
	numbers := make([]int, 3)
	for i, word := range words[1:] {
		numbers[i], _ = strconv.Atoi(word)
	}
	switch words[0] {
	case "fill":
		w.fill(numbers[0])
	case "load":
		w.load(numbers[0], words[2])
	case "change":
		w.change()
	case "rate":
		w.rate(numbers[0], numbers[1])
	case "other":
		w.other(numbers[0])
	default:
		fail("no such command: %s", line)
	}
	fmt.Printf("done %d\n", w.last.Load())
}

func main() {
	if len(os.Args) != 3 {
		fail("usage: writer <kubeconfig> <template of a pod>")
	}
	w, err := newWriter(os.Args[1], os.Args[2])
	if err != nil {
		fail("%v", err)
	}
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		w.obey(input.Text())
	}
}
