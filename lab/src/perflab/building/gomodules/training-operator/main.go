// The lab's training operator: upstream's PyTorchJob controller and its validating webhook, run outside a cluster.
//
// Upstream's own program keeps its certificate in one fixed folder below /tmp, shared by all labs and users of a
// machine, and takes no rate limits; this one gets both from flags. The controller is upstream's, unchanged.
package main

import (
	"flag"
	"net/http"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	kubeflowv1 "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/config"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	"github.com/kubeflow/training-operator/pkg/controller.v1/pytorch"
	pytorchwebhook "github.com/kubeflow/training-operator/pkg/webhooks/pytorch"
)

type options struct {
	host        string
	webhookPort int
	certDir     string
	probeAddr   string
	metricsAddr string
	threads     int
	qps         float64
	burst       int
}

func parseOptions() options {
	var o options
	flag.StringVar(&o.host, "webhook-host", "127.0.0.1", "address the webhook listens on")
	flag.IntVar(&o.webhookPort, "webhook-port", 9443, "port the webhook listens on")
	flag.StringVar(&o.certDir, "cert-dir", "", "folder with the webhook's tls.crt and tls.key")
	flag.StringVar(&o.probeAddr, "health-probe-bind-address", "127.0.0.1:8081", "address of healthz and readyz")
	flag.StringVar(&o.metricsAddr, "metrics-bind-address", "0", "address of the metrics, 0 for none")
	flag.IntVar(&o.threads, "controller-threads", 1, "jobs reconciled at once")
	flag.Float64Var(&o.qps, "kube-api-qps", 20, "requests a second to the API server")
	flag.IntVar(&o.burst, "kube-api-burst", 30, "requests to the API server in one burst")
	flag.Parse()
	return o
}

func main() {
	o := parseOptions()
	ctrl.SetLogger(zap.New())
	log := ctrl.Log.WithName("setup")
	if err := run(o); err != nil {
		log.Error(err, "cannot run the training operator")
		os.Exit(1)
	}
}

func run(o options) error {
	config.Config.PyTorchInitContainerImage = config.PyTorchInitContainerImageDefault
	config.Config.PyTorchInitContainerTemplateFile = config.PyTorchInitContainerTemplateFileDefault
	config.Config.PyTorchInitContainerMaxTries = config.PyTorchInitContainerMaxTriesDefault

	manager, err := newManager(o)
	if err != nil {
		return err
	}
	reconciler := pytorch.NewReconciler(manager, common.GenNonGangSchedulerSetupFunc())
	if err := reconciler.SetupWithManager(manager, o.threads); err != nil {
		return err
	}
	if err := pytorchwebhook.SetupWebhook(manager); err != nil {
		return err
	}
	if err := manager.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return err
	}
	ready := func(request *http.Request) error { return manager.GetWebhookServer().StartedChecker()(request) }
	if err := manager.AddReadyzCheck("readyz", ready); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func newManager(o options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(kubeflowv1.AddToScheme(scheme))
	client, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	client.QPS = float32(o.qps)
	client.Burst = o.burst
	return ctrl.NewManager(client, ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: o.metricsAddr},
		HealthProbeBindAddress: o.probeAddr,
		WebhookServer: webhook.NewServer(webhook.Options{
			Host:    o.host,
			Port:    o.webhookPort,
			CertDir: o.certDir,
		}),
	})
}
