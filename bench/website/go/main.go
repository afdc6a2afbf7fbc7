// SPDX-License-Identifier: Apache-2.0

// The controller of examples/website on controller-runtime, for comparison: the same objects,
// leader election and events. Runs until SIGTERM.
package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	finalizer = "example.com/website"
	ours      = "app.kubernetes.io/managed-by"
	name      = "website-controller"
)

type websiteSpec struct {
	HTML     string `json:"html"`
	Replicas int32  `json:"replicas"`
	Image    string `json:"image"`
}

type websiteStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	ReadyReplicas      int32              `json:"readyReplicas"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type website struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              websiteSpec   `json:"spec"`
	Status            websiteStatus `json:"status,omitempty"`
}

type websiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []website `json:"items"`
}

func (w *website) copyTo(to *website) {
	*to = *w
	w.ObjectMeta.DeepCopyInto(&to.ObjectMeta)
	to.Status.Conditions = append([]metav1.Condition(nil), w.Status.Conditions...)
}

func (w *website) DeepCopyObject() runtime.Object {
	copied := &website{}
	w.copyTo(copied)
	return copied
}

func (l *websiteList) DeepCopyObject() runtime.Object {
	copied := &websiteList{TypeMeta: l.TypeMeta, Items: make([]website, len(l.Items))}
	l.ListMeta.DeepCopyInto(&copied.ListMeta)
	for i := range l.Items {
		l.Items[i].copyTo(&copied.Items[i])
	}
	return copied
}

type reconciler struct {
	client.Client
	recorder events.EventRecorder
}

func (r *reconciler) keep(ctx context.Context, w *website, child client.Object, kind string,
	fill func()) error {
	done, err := controllerutil.CreateOrPatch(ctx, r.Client, child, func() error {
		fill()
		child.SetLabels(map[string]string{ours: name})
		return controllerutil.SetControllerReference(w, child, r.Scheme())
	})
	if done == controllerutil.OperationResultCreated {
		r.recorder.Eventf(w, nil, corev1.EventTypeNormal, "Created", "Reconcile", kind)
	}
	return err
}

func fillDeployment(w *website, d *appsv1.Deployment) {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(w.Spec.HTML))
	match := map[string]string{"website": w.Name}
	d.Spec.Replicas = &w.Spec.Replicas
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: match}
	template := &d.Spec.Template
	template.Labels = match
	template.Annotations = map[string]string{"example.com/hash": fmt.Sprint(hash.Sum64())}
	if len(template.Spec.Containers) != 1 {
		template.Spec.Containers = make([]corev1.Container, 1)
	}
	web := &template.Spec.Containers[0]
	web.Name, web.Image = "web", w.Spec.Image
	if len(web.Ports) != 1 {
		web.Ports = []corev1.ContainerPort{{ContainerPort: 80, Protocol: corev1.ProtocolTCP}}
	}
	web.VolumeMounts = []corev1.VolumeMount{{Name: "page", MountPath: "/usr/share/nginx/html"}}
	if len(template.Spec.Volumes) != 1 {
		template.Spec.Volumes = []corev1.Volume{{Name: "page", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{}}}}
	}
	template.Spec.Volumes[0].ConfigMap.Name = w.Name + "-site"
}

func (r *reconciler) cleanUp(ctx context.Context, w *website, children ...client.Object) error {
	for _, child := range children {
		if err := client.IgnoreNotFound(r.Delete(ctx, child)); err != nil {
			return err
		}
	}
	before := w.DeepCopyObject().(*website)
	controllerutil.RemoveFinalizer(w, finalizer)
	return client.IgnoreNotFound(r.Patch(ctx, w, client.MergeFrom(before)))
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	w := &website{}
	if err := r.Get(ctx, request.NamespacedName, w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	place := metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name + "-site"}
	config, deployment := &corev1.ConfigMap{ObjectMeta: place}, &appsv1.Deployment{ObjectMeta: place}
	if !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.cleanUp(ctx, w, deployment, config)
	}
	before := w.DeepCopyObject().(*website)
	if controllerutil.AddFinalizer(w, finalizer) {
		if err := r.Patch(ctx, w, client.MergeFrom(before)); err != nil {
			return ctrl.Result{}, err
		}
	}
	err := r.keep(ctx, w, config, "ConfigMap", func() {
		config.Data = map[string]string{"index.html": w.Spec.HTML}
	})
	if err == nil {
		err = r.keep(ctx, w, deployment, "Deployment", func() { fillDeployment(w, deployment) })
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	before = w.DeepCopyObject().(*website)
	ready := deployment.Status.ReadyReplicas
	condition := metav1.Condition{Type: "Ready", Status: "False", Reason: "Waiting",
		Message: fmt.Sprintf("%d of %d replicas ready", ready, w.Spec.Replicas)}
	if ready >= w.Spec.Replicas && deployment.Status.ObservedGeneration >= deployment.Generation {
		condition.Status, condition.Reason = "True", "Serving"
	}
	w.Status.ObservedGeneration, w.Status.ReadyReplicas = w.Generation, ready
	if !meta.SetStatusCondition(&w.Status.Conditions, condition) &&
		before.Status.ObservedGeneration == w.Status.ObservedGeneration &&
		before.Status.ReadyReplicas == ready {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.Status().Patch(ctx, w, client.MergeFrom(before))
}

func run() error {
	log.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme)
	group := schema.GroupVersion{Group: "example.com", Version: "v1"}
	scheme.AddKnownTypeWithName(group.WithKind("Website"), &website{})
	scheme.AddKnownTypeWithName(group.WithKind("WebsiteList"), &websiteList{})
	metav1.AddToGroupVersion(scheme, group)
	config := ctrl.GetConfigOrDie()
	config.QPS = -1
	config.UserAgent = "website-controller-go"
	selector := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{ours: name})}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, LeaderElection: true, LeaderElectionID: name,
		LeaderElectionNamespace: "default", LeaderElectionReleaseOnCancel: true,
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&corev1.ConfigMap{}: selector, &appsv1.Deployment{}: selector}},
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).Named("website").For(&website{}).
		Owns(&corev1.ConfigMap{}).Owns(&appsv1.Deployment{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(&reconciler{manager.GetClient(), manager.GetEventRecorder(name)})
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
