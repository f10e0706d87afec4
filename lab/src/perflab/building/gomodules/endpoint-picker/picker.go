package main

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "sigs.k8s.io/gateway-api-inference-extension/api/v1"
	"sigs.k8s.io/gateway-api-inference-extension/apix/v1alpha2"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/common"
	backendmetrics "sigs.k8s.io/gateway-api-inference-extension/pkg/epp/backend/metrics"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/config"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/config/loader"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/datastore"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/handlers"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/plugins"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/requestcontrol"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/saturationdetector"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/scheduling"
	runserver "sigs.k8s.io/gateway-api-inference-extension/pkg/epp/server"
)

// endpointPicker is one that runs, for one pod of a scheduler.
type endpointPicker struct {
	*handlers.StreamingServer
	pod    types.UID
	cancel context.CancelFunc
}

// start is upstream's cmd/epp/runner without its servers; it returns what upstream's program would end with.
func start(kubeconfig *rest.Config, pod *corev1.Pod, servers servers) (*endpointPicker, error) {
	a, err := parse(containerOf(pod).Args)
	if err != nil {
		return nil, err
	}
	if a.poolNamespace == "" {
		a.poolNamespace = pod.Namespace
	}
	ctx, cancel := context.WithCancel(ctrl.LoggerInto(context.Background(), ctrl.Log.WithValues("pool", a.poolName)))
	server, err := serve(ctx, kubeconfig, a, servers)
	if err != nil {
		cancel()
		return nil, err
	}
	return &endpointPicker{server, pod.UID, cancel}, nil
}

func serve(ctx context.Context, kubeconfig *rest.Config, a arguments, servers servers) (*handlers.StreamingServer, error) {
	mapping, err := backendmetrics.NewMetricMapping(a.queuedMetric, a.cacheUsageMetric, a.loraMetric, a.cacheInfoMetric)
	if err != nil {
		return nil, err
	}
	endpoints := factory{backendmetrics.NewPodMetricsFactory(&backendmetrics.PodMetricsClientImpl{
		MetricMapping:            mapping,
		ModelServerMetricsPath:   a.metricsPath,
		ModelServerMetricsScheme: a.metricsScheme,
		Client:                   http.DefaultClient,
	}, a.refreshInterval), servers}
	store := datastore.NewDatastore(ctx, endpoints, int32(a.metricsPort))
	requests := requestcontrol.NewConfig()
	loaded, err := load(ctx, a.configText, store, requests)
	if err != nil {
		return nil, err
	}
	if err := follow(ctx, kubeconfig, a, store); err != nil {
		return nil, err
	}
	backendmetrics.StartMetricsLogger(ctx, store, runserver.DefaultRefreshPrometheusMetricsInterval, a.staleAfter)
	detector := saturationdetector.NewDetector(loaded.SaturationDetectorConfig, ctrl.LoggerFrom(ctx))
	director := requestcontrol.NewDirectorWithConfig(
		store,
		scheduling.NewSchedulerWithConfig(loaded.SchedulerConfig),
		requestcontrol.NewLegacyAdmissionController(detector),
		requests,
	)
	return handlers.NewStreamingServer(store, director), nil
}

// load returns an EndpointPickerConfig with its plugins.
func load(ctx context.Context, text string, store datastore.Datastore, requests *requestcontrol.Config) (*config.Config, error) {
	raw, gates, err := loader.LoadConfigPhaseOne([]byte(text), ctrl.LoggerFrom(ctx))
	if err != nil {
		return nil, fmt.Errorf("failed to parse config - %w", err)
	}
	for gate, enabled := range gates {
		if enabled {
			return nil, fmt.Errorf("the lab's endpoint picker has no feature gate %s", gate)
		}
	}
	handle := plugins.NewEppHandle(ctx, store.PodList)
	loaded, err := loader.LoadConfigPhaseTwo(raw, handle, ctrl.LoggerFrom(ctx))
	if err != nil {
		return nil, fmt.Errorf("failed to load the configuration - %w", err)
	}
	requests.AddPlugins(handle.GetAllPlugins()...)
	return loaded, nil
}

// follow keeps the pool, its objectives and its pods in the store, until the context ends.
func follow(ctx context.Context, kubeconfig *rest.Config, a arguments, store datastore.Datastore) error {
	here := map[string]cache.Config{a.poolNamespace: {}}
	pool := map[string]cache.Config{
		a.poolNamespace: {FieldSelector: fields.SelectorFromSet(fields.Set{"metadata.name": a.poolName})},
	}
	manager, err := runserver.NewManagerWithOptions(kubeconfig, ctrl.Options{
		Scheme: newScheme(),
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:                  {Namespaces: here},
			&v1alpha2.InferenceObjective{}: {Namespaces: here},
			&v1.InferencePool{}:            {Namespaces: pool},
		}},
		Metrics: metricsserver.Options{BindAddress: "0"},
		// each picker has controllers of the same names
		Controller: ctrlconfig.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return err
	}
	runner := runserver.ExtProcServerRunner{Datastore: store, GKNN: common.GKNN{
		NamespacedName: types.NamespacedName{Namespace: a.poolNamespace, Name: a.poolName},
		GroupKind:      schema.GroupKind{Group: a.poolGroup, Kind: "InferencePool"},
	}}
	if err := runner.SetupWithManager(ctx, manager); err != nil {
		return err
	}
	go func() {
		if err := manager.Start(ctx); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "the pool is not followed any more")
		}
	}()
	return nil
}
