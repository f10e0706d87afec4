package main

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/reconciler"
)

// cluster is what this program sees of it beside OLM: the pods of catalogs and the steps that are set.
type cluster struct {
	client     kubernetes.Interface
	logger     *logrus.Logger
	pods       corelisters.PodLister
	configMaps corelisters.ConfigMapLister

	mutex   sync.Mutex
	changed chan struct{}
	conns   map[source][]net.Conn
	refused map[string]bool
	// the version of the steps that all is done for
	known atomic.Value
}

// source is what serves a catalog: a ready pod, none when image is empty.
type source struct {
	namespace string
	name      string
	pod       string
	image     string
	ready     int64
}

func watchCluster(ctx context.Context, client kubernetes.Interface, logger *logrus.Logger) (*cluster, error) {
	c := &cluster{
		client:  client,
		logger:  logger,
		changed: make(chan struct{}),
		conns:   map[source][]net.Conn{},
		refused: map[string]bool{},
	}
	c.known.Store("")
	pods := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(
		func(options *metav1.ListOptions) { options.LabelSelector = reconciler.CatalogSourceLabelKey },
	))
	set := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithNamespace(stepsNamespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) {
			options.FieldSelector = "metadata.name=" + stepsName
		}),
	)
	c.pods = pods.Core().V1().Pods().Lister()
	c.configMaps = set.Core().V1().ConfigMaps().Lister()
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { c.announce() },
		UpdateFunc: func(any, any) { c.announce() },
		DeleteFunc: func(any) { c.announce() },
	}
	for _, informer := range []cache.SharedIndexInformer{
		pods.Core().V1().Pods().Informer(), set.Core().V1().ConfigMaps().Informer(),
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return nil, err
		}
	}
	for _, factory := range []informers.SharedInformerFactory{pods, set} {
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
	}
	return c, nil
}

// changes is closed at the next change of what this program sees.
func (c *cluster) changes() <-chan struct{} {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.changed
}

func (c *cluster) announce() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
	c.refused = map[string]bool{}
	// what does not serve any more has no connections
	steps := c.steps()
	for source, conns := range c.conns {
		until, refusal := steps.catalog(source)
		if refusal == "" && until.Before(time.Now()) && c.source(source.namespace, source.name) == source {
			continue
		}
		for _, conn := range conns {
			_ = conn.Close()
		}
		delete(c.conns, source)
	}
}

func (c *cluster) keep(source source, conn net.Conn) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.conns[source] = append(c.conns[source], conn)
}

// refuse tells whether a connection is refused at once: the first one after a change is, the next ones wait, so that
// they succeed as soon as the catalog answers again, and not after gRPC's growing pauses.
func (c *cluster) refuse(namespace, service string) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	key := namespace + "/" + service
	before := c.refused[key]
	c.refused[key] = true
	return !before
}

// source finds the ready pod behind the Service of a catalog.
func (c *cluster) source(namespace, service string) source {
	pods, err := c.pods.Pods(namespace).List(labels.Everything())
	if err != nil {
		return source{}
	}
	for _, pod := range pods {
		name := pod.Labels[reconciler.CatalogSourceLabelKey]
		// a Service is called like its CatalogSource, without dots
		if strings.ReplaceAll(name, ".", "-") != service || pod.DeletionTimestamp != nil {
			continue
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
				return source{namespace, name, pod.Name, pod.Spec.Containers[0].Image, condition.LastTransitionTime.Unix()}
			}
		}
	}
	return source{}
}

func (c *cluster) steps() steps {
	found, err := c.configMaps.ConfigMaps(stepsNamespace).Get(stepsName)
	if err != nil {
		return steps{}
	}
	return steps{version: found.ResourceVersion, values: found.Data}
}
