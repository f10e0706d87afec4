// The lab's Kubeflow Trainer: upstream's controllers of TrainJobs and runtimes and their webhooks, outside a cluster.
//
// Upstream's own program creates its certificate in one fixed folder below /tmp, shared by all labs and users of a
// machine, listens on all addresses and takes no rate limits; this one gets them from flags. The controllers are
// upstream's, unchanged.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"

	apiruntime "k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlpkg "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	jobsetv1alpha2 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	schedulerpluginsv1alpha1 "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	trainer "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	"github.com/kubeflow/trainer/v2/pkg/controller"
	runtimecore "github.com/kubeflow/trainer/v2/pkg/runtime/core"
	"github.com/kubeflow/trainer/v2/pkg/webhooks"
)

type options struct {
	host        string
	webhookPort int
	certDir     string
	probeAddr   string
	threads     int
	qps         float64
	burst       int
}

func parseOptions() options {
	var o options
	flag.StringVar(&o.host, "webhook-host", "127.0.0.1", "address the webhooks listen on")
	flag.IntVar(&o.webhookPort, "webhook-port", 9443, "port the webhooks listen on")
	flag.StringVar(&o.certDir, "cert-dir", "", "folder with the webhooks' tls.crt and tls.key")
	flag.StringVar(&o.probeAddr, "health-probe-bind-address", "127.0.0.1:8081", "address of readyz")
	flag.IntVar(&o.threads, "controller-threads", 1, "objects of a kind reconciled at once")
	flag.Float64Var(&o.qps, "kube-api-qps", 20, "requests a second to the API server")
	flag.IntVar(&o.burst, "kube-api-burst", 30, "requests to the API server in one burst")
	flag.Parse()
	return o
}

func main() {
	o := parseOptions()
	ctrl.SetLogger(zap.New())
	if err := run(o); err != nil {
		ctrl.Log.WithName("setup").Error(err, "cannot run Kubeflow Trainer")
		os.Exit(1)
	}
}

func run(o options) error {
	manager, err := newManager(o)
	if err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	runtimes, err := runtimecore.New(ctx, manager.GetClient(), manager.GetFieldIndexer())
	if err != nil {
		return err
	}
	options := ctrlpkg.Options{MaxConcurrentReconciles: o.threads}
	if kind, err := controller.SetupControllers(manager, runtimes, options); err != nil {
		return fmt.Errorf("controller of %s: %w", kind, err)
	}
	if kind, err := webhooks.Setup(manager, runtimes); err != nil {
		return fmt.Errorf("webhook of %s: %w", kind, err)
	}
	ready := func(request *http.Request) error { return manager.GetWebhookServer().StartedChecker()(request) }
	if err := manager.AddReadyzCheck("readyz", ready); err != nil {
		return err
	}
	return manager.Start(ctx)
}

func newManager(o options) (ctrl.Manager, error) {
	scheme := apiruntime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(trainer.AddToScheme(scheme))
	utilruntime.Must(jobsetv1alpha2.AddToScheme(scheme))
	utilruntime.Must(schedulerpluginsv1alpha1.AddToScheme(scheme))
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	config.QPS = float32(o.qps)
	config.Burst = o.burst
	return ctrl.NewManager(config, ctrl.Options{
		Scheme:                 scheme,
		Client:                 client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: o.probeAddr,
		WebhookServer: webhook.NewServer(webhook.Options{
			Host:    o.host,
			Port:    o.webhookPort,
			CertDir: o.certDir,
		}),
	})
}
