// SPDX-License-Identifier: Apache-2.0

// An informer of client-go on pods, for the tests of the embedded API server. Says "synced" once,
// and for each line of its input what its cache has: "<key>@<version>" words in one line.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"sort"
	"strings"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	corev1 "k8s.io/api/core/v1"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func dump(store cache.Store) string {
	var words []string
	for _, item := range store.List() {
		pod := item.(*corev1.Pod)
		words = append(words, fmt.Sprintf("%s/%s@%s", pod.Namespace, pod.Name, pod.ResourceVersion))
	}
	sort.Strings(words)
	return strings.Join(words, " ")
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	if len(os.Args) > 2 { // such as application/vnd.kubernetes.protobuf
		config.ContentType = os.Args[2]
	}
	client, err := kubernetes.NewForConfig(config)
	must(err)
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods().Informer()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		os.Exit(1)
	}
	fmt.Println("synced")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(dump(informer.GetStore()))
	}
}
