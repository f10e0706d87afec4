// The lab's Kueue: upstream's controllers, scheduler and webhooks, run outside a cluster.
//
// Upstream's own program reads a certificate for its metrics from a fixed path below /etc, and serves them to bearer
// tokens only. Here metrics are plain HTTP on loopback. Certificates are the lab's. The server of pending workloads,
// which requires a Service, is left out. Controllers, scheduler and webhooks are upstream's, unchanged.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	configv1beta1 "sigs.k8s.io/kueue/apis/config/v1beta1"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueuev1beta1 "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/config"
	"sigs.k8s.io/kueue/pkg/constants"
	"sigs.k8s.io/kueue/pkg/controller/admissionchecks/multikueue"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/controller/tas"
	tasindexer "sigs.k8s.io/kueue/pkg/controller/tas/indexer"
	"sigs.k8s.io/kueue/pkg/metrics"
	"sigs.k8s.io/kueue/pkg/scheduler"
	preemptexpectations "sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/fairsharing"
	"sigs.k8s.io/kueue/pkg/util/expectations"
	"sigs.k8s.io/kueue/pkg/util/kubeversion"
	"sigs.k8s.io/kueue/pkg/util/useragent"
	"sigs.k8s.io/kueue/pkg/util/waitforpodsready"
	"sigs.k8s.io/kueue/pkg/webhooks"

	// kinds of workloads whose API a lab may have
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/job"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/jobset"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/kubeflow/jobs"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/leaderworkerset"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/pod"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/raycluster"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/rayjob"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/trainjob"
)

var setupLog = ctrl.Log.WithName("setup")

func main() {
	file := flag.String("config", "", "file with a Configuration of Kueue")
	options := zap.Options{}
	options.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&options)))
	if err := run(ctrl.SetupSignalHandler(), *file); err != nil {
		setupLog.Error(err, "cannot run Kueue")
		os.Exit(1)
	}
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, schedulingv1.AddToScheme,
		kueue.AddToScheme, kueuev1beta1.AddToScheme, configapi.AddToScheme, configv1beta1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	utilruntime.Must(jobframework.ForEachIntegration(func(_ string, callbacks jobframework.IntegrationCallbacks) error {
		if callbacks.AddToScheme == nil {
			return nil
		}
		return callbacks.AddToScheme(scheme)
	}))
	return scheme
}

func run(ctx context.Context, file string) error {
	options, cfg, err := config.Load(newScheme(), file)
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(cfg.FeatureGates); err != nil {
		return err
	}
	manager, err := newManager(options, &cfg)
	if err != nil {
		return err
	}
	if err := setUp(ctx, manager, &cfg); err != nil {
		return err
	}
	return manager.Start(ctx)
}

func newManager(options ctrl.Options, cfg *configapi.Configuration) (ctrl.Manager, error) {
	options.Metrics = metricsserver.Options{BindAddress: cfg.Metrics.BindAddress}
	config.AddWebhookSettingsTo(&options, cfg)
	metrics.Register()
	client, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	client.UserAgent = useragent.Default()
	// one limit for all kinds, instead of one for each
	client.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(*cfg.ClientConnection.QPS, int(*cfg.ClientConnection.Burst))
	manager, err := ctrl.NewManager(client, options)
	if err != nil {
		return nil, err
	}
	return manager, manager.AddReadyzCheck("readyz", manager.GetWebhookServer().StartedChecker())
}

// setUp adds to the manager what upstream's program adds, in the same order.
func setUp(ctx context.Context, manager ctrl.Manager, cfg *configapi.Configuration) error {
	cache := schdcache.New(
		manager.GetClient(),
		schdcache.WithPodsReadyTracking(blocksForPods(cfg)),
		schdcache.WithResourceMetrics(cfg.Metrics.EnableClusterQueueResources),
		schdcache.WithFairSharing(fairsharing.Enabled(cfg.FairSharing)),
		schdcache.WithAdmissionFairSharing(cfg.AdmissionFairSharing),
	)
	requeuer := qcache.NewRequeuer()
	if err := manager.Add(requeuer); err != nil {
		return err
	}
	preemptions := preemptexpectations.New()
	queues := qcache.NewManager(
		manager.GetClient(),
		cache,
		requeuer,
		qcache.WithPodsReadyRequeuingTimestamp(requeuingTimestamp(cfg)),
		qcache.WithPreemptionExpectations(preemptions),
		qcache.WithAdmissionFairSharing(cfg.AdmissionFairSharing),
	)
	if err := setUpIndexes(ctx, manager, cfg); err != nil {
		return err
	}
	if err := setUpControllers(ctx, manager, cache, queues, cfg, preemptions); err != nil {
		return err
	}
	if failed, err := webhooks.Setup(manager, nil); err != nil {
		return fmt.Errorf("webhook of %s: %w", failed, err)
	}
	go queues.CleanUpOnContext(ctx)
	go cache.CleanUpOnContext(ctx)
	return manager.Add(scheduler.New(
		queues,
		cache,
		manager.GetClient(),
		manager.GetEventRecorderFor(constants.AdmissionName),
		scheduler.WithPodsReadyRequeuingTimestamp(requeuingTimestamp(cfg)),
		scheduler.WithFairSharing(cfg.FairSharing),
		scheduler.WithAdmissionFairSharing(cfg.AdmissionFairSharing),
		scheduler.WithPreemptionExpectations(preemptions),
	))
}

func setUpIndexes(ctx context.Context, manager ctrl.Manager, cfg *configapi.Configuration) error {
	fields := manager.GetFieldIndexer()
	if err := indexer.Setup(ctx, fields); err != nil {
		return err
	}
	if err := tasindexer.SetupIndexes(ctx, fields); err != nil {
		return err
	}
	if err := multikueue.SetupIndexer(ctx, fields, *cfg.Namespace); err != nil {
		return err
	}
	return jobframework.SetupIndexes(ctx, fields, jobframework.WithEnabledFrameworks(cfg.Integrations.Frameworks))
}

func setUpControllers(
	ctx context.Context,
	manager ctrl.Manager,
	cache *schdcache.Cache,
	queues *qcache.Manager,
	cfg *configapi.Configuration,
	preemptions *expectations.Store,
) error {
	if failed, err := core.SetupControllers(manager, queues, cache, cfg, nil, preemptions, nil); err != nil {
		return fmt.Errorf("controller %s: %w", failed, err)
	}
	if err := setUpMultiKueue(manager, cfg); err != nil {
		return fmt.Errorf("MultiKueue: %w", err)
	}
	if failed, err := tas.SetupControllers(manager, queues, cache, cfg, nil); err != nil {
		return fmt.Errorf("controller %s: %w", failed, err)
	}
	version, err := serverVersion(manager)
	if err != nil {
		return err
	}
	namespaces, err := metav1.LabelSelectorAsSelector(cfg.ManagedJobsNamespaceSelector)
	if err != nil {
		return err
	}
	return jobframework.SetupControllers(ctx, manager, setupLog,
		jobframework.WithManageJobsWithoutQueueName(cfg.ManageJobsWithoutQueueName),
		jobframework.WithWaitForPodsReady(cfg.WaitForPodsReady),
		jobframework.WithKubeServerVersion(version),
		jobframework.WithEnabledFrameworks(cfg.Integrations.Frameworks),
		jobframework.WithEnabledExternalFrameworks(cfg.Integrations.ExternalFrameworks),
		jobframework.WithManagerName(constants.KueueName),
		jobframework.WithLabelKeysToCopy(cfg.Integrations.LabelKeysToCopy),
		jobframework.WithCache(cache),
		jobframework.WithQueues(queues),
		jobframework.WithObjectRetentionPolicies(cfg.ObjectRetentionPolicies),
		jobframework.WithManagedJobsNamespaceSelector(namespaces),
	)
}

// setUpMultiKueue dispatches workloads to other clusters, of the kinds that this cluster serves now: a worker cluster is
// active only if it serves all of them.
func setUpMultiKueue(manager ctrl.Manager, cfg *configapi.Configuration) error {
	adapters, err := jobframework.GetMultiKueueAdapters(sets.New(cfg.Integrations.Frameworks...))
	if err != nil {
		return err
	}
	for name, adapter := range adapters {
		kind := adapter.GVK()
		_, err := manager.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		if meta.IsNoMatchError(err) {
			delete(adapters, name)
		} else if err != nil {
			return err
		}
	}
	return multikueue.SetupControllers(manager, *cfg.Namespace,
		multikueue.WithGCInterval(cfg.MultiKueue.GCInterval.Duration),
		multikueue.WithOrigin(*cfg.MultiKueue.Origin),
		multikueue.WithWorkerLostTimeout(cfg.MultiKueue.WorkerLostTimeout.Duration),
		multikueue.WithAdapters(adapters),
		multikueue.WithDispatcherName(*cfg.MultiKueue.DispatcherName),
	)
}

func serverVersion(manager ctrl.Manager) (*kubeversion.ServerVersionFetcher, error) {
	client, err := discovery.NewDiscoveryClientForConfig(manager.GetConfig())
	if err != nil {
		return nil, err
	}
	version := kubeversion.NewServerVersionFetcher(client)
	if err := manager.Add(version); err != nil {
		return nil, err
	}
	return version, version.FetchServerVersion()
}

func blocksForPods(cfg *configapi.Configuration) bool {
	waits := cfg.WaitForPodsReady
	return waitforpodsready.Enabled(waits) && waits.BlockAdmission != nil && *waits.BlockAdmission
}

func requeuingTimestamp(cfg *configapi.Configuration) configapi.RequeuingTimestamp {
	waits := cfg.WaitForPodsReady
	if waits != nil && waits.RequeuingStrategy != nil && waits.RequeuingStrategy.Timestamp != nil {
		return *waits.RequeuingStrategy.Timestamp
	}
	return configapi.EvictionTimestamp
}
