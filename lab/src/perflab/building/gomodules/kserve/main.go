// The lab's KServe: upstream's controllers of InferenceServices and LLMInferenceServices and their webhooks, run outside a
// cluster.
//
// Upstream has a program for each of the two kinds, which listen on all interfaces. Here they share a process and the
// server of their webhooks, on one address. Left out are inference graphs and trained models, which would need a router
// and an agent in pods that run. The controllers are upstream's, unchanged; where Open Data Hub 3 is, auth.go gives them
// a client that makes the difference of its build.
package main

import (
	"context"
	"flag"
	"net/http"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

type options struct {
	host        string
	webhookPort int
	certDir     string
	probeAddr   string
	qps         float64
	burst       int
}

func parseOptions() options {
	var o options
	flag.StringVar(&o.host, "webhook-host", "127.0.0.1", "address the webhooks listen on")
	flag.IntVar(&o.webhookPort, "webhook-port", 9443, "port the webhooks listen on")
	flag.StringVar(&o.certDir, "cert-dir", "", "folder with the webhooks' tls.crt and tls.key")
	flag.StringVar(&o.probeAddr, "health-probe-bind-address", "127.0.0.1:8081", "address of readyz")
	flag.Float64Var(&o.qps, "kube-api-qps", 20, "requests a second to the API server")
	flag.IntVar(&o.burst, "kube-api-burst", 30, "requests to the API server in one burst")
	flag.Parse()
	return o
}

func main() {
	o := parseOptions()
	ctrl.SetLogger(zap.New())
	if err := run(o); err != nil {
		ctrl.Log.WithName("setup").Error(err, "cannot run KServe")
		os.Exit(1)
	}
}

func run(o options) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS = float32(o.qps)
	config.Burst = o.burst
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	server := webhook.NewServer(webhook.Options{Host: o.host, Port: o.webhookPort, CertDir: o.certDir})
	services, err := newManager(config, clientset, ctrl.Options{
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: o.probeAddr,
		WebhookServer:          server,
	})
	if err != nil {
		return err
	}
	models, err := newLLMManager(config, clientset, ctrl.Options{
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: borrowed{server},
	})
	if err != nil {
		return err
	}
	if err := services.Add(models); err != nil {
		return err
	}
	if err := services.AddReadyzCheck("readyz", ready(server, services, models)); err != nil {
		return err
	}
	return services.Start(ctrl.SetupSignalHandler())
}

// borrowed is a webhook server that another manager runs.
type borrowed struct{ webhook.Server }

func (borrowed) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// ready answers well once the webhooks are served and everything was read.
func ready(server webhook.Server, managers ...ctrl.Manager) func(*http.Request) error {
	return func(request *http.Request) error {
		for _, each := range managers {
			if !each.GetCache().WaitForCacheSync(request.Context()) {
				return request.Context().Err()
			}
		}
		return server.StartedChecker()(request)
	}
}

func recorder(manager ctrl.Manager, clientset kubernetes.Interface, component string) record.EventRecorder {
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: clientset.CoreV1().Events("")})
	return broadcaster.NewRecorder(manager.GetScheme(), corev1.EventSource{Component: component})
}
