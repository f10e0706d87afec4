package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "sigs.k8s.io/gateway-api-inference-extension/api/v1"
)

// restarts is the number after which a wait no longer hopes for a container.
const restarts = 5

// pools has a picker for each InferencePool whose endpointPickerRef names a Service with a Ready pod.
type pools struct {
	client.Client
	config  *rest.Config
	servers servers

	mutex   sync.RWMutex
	pickers map[types.NamespacedName]*endpointPicker
}

func newPools(reader client.Client, config *rest.Config, servers servers) *pools {
	pickers := map[types.NamespacedName]*endpointPicker{}
	return &pools{Client: reader, config: config, servers: servers, pickers: pickers}
}

func (p *pools) setup(manager ctrl.Manager) error {
	inNamespace := handler.EnqueueRequestsFromMapFunc(p.poolsNear)
	return ctrl.NewControllerManagedBy(manager).
		For(&v1.InferencePool{}).
		Watches(&corev1.Service{}, inNamespace).
		Watches(&corev1.Pod{}, inNamespace).
		Named("endpoint-pickers").
		Complete(p)
}

// poolsNear returns the pools in the namespace of an object.
func (p *pools) poolsNear(ctx context.Context, object client.Object) []reconcile.Request {
	var found v1.InferencePoolList
	if err := p.List(ctx, &found, client.InNamespace(object.GetNamespace())); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list InferencePools")
		return nil
	}
	requests := make([]reconcile.Request, 0, len(found.Items))
	for i := range found.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&found.Items[i])})
	}
	return requests
}

// Reconcile starts the picker of a pool, or ends that of another pod.
func (p *pools) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	pod, err := p.scheduler(ctx, request.NamespacedName)
	if err != nil {
		return ctrl.Result{}, err
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	present := p.pickers[request.NamespacedName]
	if present != nil && (pod == nil || present.pod != pod.UID) {
		present.cancel()
		delete(p.pickers, request.NamespacedName)
		present = nil
	}
	if pod == nil || present != nil {
		return ctrl.Result{}, nil
	}
	started, err := start(p.config, pod, p.servers)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "the endpoint picker ends", "pod", pod.Name)
		return ctrl.Result{}, p.crash(ctx, pod, err)
	}
	ctrl.LoggerFrom(ctx).Info("the endpoint picker runs", "pod", pod.Name)
	p.pickers[request.NamespacedName] = started
	return ctrl.Result{}, nil
}

// crash gives a pod the status that a kubelet gives it if its picker ends with an error.
func (p *pools) crash(ctx context.Context, pod *corev1.Pod, reason error) error {
	crashed := pod.DeepCopy()
	for i := range crashed.Status.Conditions {
		if each := &crashed.Status.Conditions[i]; each.Type == corev1.PodReady || each.Type == corev1.ContainersReady {
			each.Status, each.Reason = corev1.ConditionFalse, "ContainersNotReady"
			each.LastTransitionTime = metav1.Now()
		}
	}
	name := containerOf(pod).Name
	for i := range crashed.Status.ContainerStatuses {
		if each := &crashed.Status.ContainerStatuses[i]; each.Name == name {
			// simulated: it is not started again
			each.Ready, each.Started, each.RestartCount = false, ptr.To(false), restarts
			each.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
				ExitCode: 1, Reason: "Error", Message: reason.Error(), FinishedAt: metav1.Now(),
			}
			each.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason: "CrashLoopBackOff", Message: reason.Error(),
			}}
		}
	}
	return p.Status().Patch(ctx, crashed, client.MergeFrom(pod))
}

// scheduler returns the oldest Ready pod of the Service that a pool names, with the arguments of a picker; else nil.
func (p *pools) scheduler(ctx context.Context, name types.NamespacedName) (*corev1.Pod, error) {
	var pool v1.InferencePool
	if err := p.Get(ctx, name, &pool); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	var service corev1.Service
	named := types.NamespacedName{Namespace: name.Namespace, Name: string(pool.Spec.EndpointPickerRef.Name)}
	if err := p.Get(ctx, named, &service); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if len(service.Spec.Selector) == 0 {
		return nil, nil
	}
	var pods corev1.PodList
	selector := client.MatchingLabelsSelector{Selector: labels.SelectorFromSet(service.Spec.Selector)}
	if err := p.List(ctx, &pods, client.InNamespace(name.Namespace), selector); err != nil {
		return nil, err
	}
	ready := slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !isReady(&pod) || containerOf(&pod) == nil })
	if len(ready) == 0 {
		return nil, nil
	}
	oldest := slices.MinFunc(ready, func(one, other corev1.Pod) int {
		return one.CreationTimestamp.Compare(other.CreationTimestamp.Time)
	})
	return &oldest, nil
}

func isReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(each corev1.PodCondition) bool {
		return each.Type == corev1.PodReady && each.Status == corev1.ConditionTrue
	})
}

// containerOf returns the first container whose arguments name a pool; nil if there is none.
func containerOf(pod *corev1.Pod) *corev1.Container {
	for i := range pod.Spec.Containers {
		if slices.ContainsFunc(pod.Spec.Containers[i].Args, namesPool) {
			return &pod.Spec.Containers[i]
		}
	}
	return nil
}

func namesPool(word string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	return name == "pool-name"
}

// of returns the picker of a pool.
func (p *pools) of(namespace, name string) (*endpointPicker, error) {
	p.mutex.RLock()
	defer p.mutex.RUnlock()
	found := p.pickers[types.NamespacedName{Namespace: namespace, Name: name}]
	if found == nil {
		return nil, fmt.Errorf("no endpoint picker runs for the InferencePool %s/%s", namespace, name)
	}
	return found, nil
}
