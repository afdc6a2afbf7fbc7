// SPDX-License-Identifier: Apache-2.0

// Informers of client-go, which print what their handlers receive as oracle_client.c does: that
// file says which arguments it takes, what it prints, and which commands it knows.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The request for one informer: only a name.
type wish struct {
	name, resource, encoding, way, namespace, labels string
}

func readWish(text string) wish {
	parts := strings.Split(text, ",")
	if len(parts) != 5 {
		must(fmt.Errorf("not understood: %s", text))
	}
	for i := range parts {
		if parts[i] == "-" {
			parts[i] = ""
		}
	}
	return wish{text, parts[0], parts[1], parts[2], parts[3], parts[4]}
}

// ---- output ----

// One write a line, so that lines of different handlers do not mix.
func tell(format string, arguments ...any) {
	_, err := os.Stdout.WriteString(fmt.Sprintf(format+"\n", arguments...))
	must(err)
}

func object(item any) metav1.Object {
	accessor, err := meta.Accessor(item)
	must(err)
	return accessor
}

func describe(o metav1.Object) string {
	return fmt.Sprintf("%s/%s %s %s", o.GetNamespace(), o.GetName(), o.GetUID(),
		o.GetResourceVersion())
}

func teller(name string) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(item any, initial bool) {
			when := "live"
			if initial {
				when = "initial"
			}
			tell("+ %s %s %s", name, describe(object(item)), when)
		},
		UpdateFunc: func(before, item any) {
			old := object(before)
			tell("~ %s %s %s/%s", name, describe(object(item)), old.GetUID(),
				old.GetResourceVersion())
		},
		DeleteFunc: func(item any) {
			if tombstone, ok := item.(cache.DeletedFinalStateUnknown); ok {
				tell("- %s %s unknown", name, describe(object(tombstone.Obj)))
				return
			}
			tell("- %s %s known", name, describe(object(item)))
		},
	}
}

// ---- informers ----

type follower struct {
	wish
	informer cache.SharedIndexInformer
	lists    atomic.Int64 // begun, in pages or by streaming
}

// What a ListWatch asks whether it can stream.
type streaming bool

func (s streaming) IsWatchListSemanticsUnSupported() bool {
	return !bool(s)
}

// The functions of one resource, typed if it is built in.
type resourceClient struct {
	example runtime.Object
	list    func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch   func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

func typedClient(config *rest.Config, w wish) (resourceClient, bool) {
	if w.encoding == "protobuf" {
		config.ContentType = "application/vnd.kubernetes.protobuf"
	}
	client, err := kubernetes.NewForConfig(config)
	must(err)
	switch w.resource {
	case "v1/pods":
		pods := client.CoreV1().Pods(w.namespace)
		return resourceClient{&corev1.Pod{},
			func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return pods.List(ctx, o)
			}, pods.Watch}, true
	case "v1/configmaps":
		maps := client.CoreV1().ConfigMaps(w.namespace)
		return resourceClient{&corev1.ConfigMap{},
			func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return maps.List(ctx, o)
			}, maps.Watch}, true
	}
	return resourceClient{}, false
}

func dynamicClient(config *rest.Config, w wish) resourceClient {
	parts := strings.Split(w.resource, "/")
	if len(parts) != 4 {
		must(fmt.Errorf("no such resource: %s", w.resource))
	}
	client, err := dynamic.NewForConfig(config)
	must(err)
	objects := client.Resource(schema.GroupVersionResource{Group: parts[0], Version: parts[1],
		Resource: parts[2]}).Namespace(w.namespace)
	return resourceClient{&unstructured.Unstructured{},
		func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return objects.List(ctx, o)
		}, objects.Watch}
}

func (f *follower) listWatch(client resourceClient) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if o.Continue == "" {
				f.lists.Add(1)
			}
			o.LabelSelector = f.labels
			return client.list(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil && *o.SendInitialEvents {
				f.lists.Add(1)
			}
			o.LabelSelector = f.labels
			return client.watch(ctx, o)
		},
	}, streaming(f.way == "stream"))
}

func follow(config *rest.Config, w wish, done <-chan struct{}) *follower {
	config = rest.CopyConfig(config)
	client, ok := typedClient(config, w)
	if !ok {
		client = dynamicClient(config, w)
	}
	f := &follower{wish: w}
	f.informer = cache.NewSharedIndexInformer(f.listWatch(client), client.example, 0,
		cache.Indexers{})
	registration, err := f.informer.AddEventHandler(teller(w.name))
	must(err)
	go f.informer.Run(done)
	go func() {
		if cache.WaitForCacheSync(done, registration.HasSynced) {
			tell("synced %s", w.name)
		}
	}()
	return f
}

// ---- commands ----

func dump(followers []*follower) {
	for _, f := range followers {
		for _, item := range f.informer.GetStore().List() {
			tell("= %s %s -", f.name, describe(object(item)))
		}
	}
	tell("dumped")
}

func health(followers []*follower) {
	for _, f := range followers {
		tell("health %s syncs=%d", f.name, f.lists.Load())
	}
	tell("healthy")
}

func obey(followers []*follower) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() && lines.Text() != "quit" {
		switch lines.Text() {
		case "dump":
			dump(followers)
		case "health":
			health(followers)
		}
	}
}

func main() {
	if len(os.Args) < 3 || os.Args[1] != "--kubeconfig" {
		must(fmt.Errorf("usage: informer --kubeconfig <file> <informer> ..."))
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[2])
	must(err)
	config.Timeout = 0
	done := make(chan struct{})
	var followers []*follower
	for _, text := range os.Args[3:] {
		followers = append(followers, follow(config, readWish(text), done))
	}
	obey(followers)
	close(done)
	for _, f := range followers {
		for !f.informer.IsStopped() {
			time.Sleep(time.Millisecond)
		}
	}
	tell("stopped")
}
