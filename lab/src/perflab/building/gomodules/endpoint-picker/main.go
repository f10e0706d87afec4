// The lab's endpoint pickers: llm-d's scheduler, one for each InferencePool, in one process outside the cluster.
//
// Upstream has a program for each pool, which runs in a pod and listens on all interfaces. Here, the pod of a scheduler
// is simulated, and this program does the pod's work with the pod's arguments (pools.go, picker.go). Envoy names the
// pool of a request in the metadata of its call (server.go). Left out is the precise prefix cache scorer, which needs
// tokenizers and ZeroMQ in C. All else is upstream's: plugins, scheduler, request handling, scraping of metrics.
package main

import (
	"context"
	"flag"
	"net"
	"net/http"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	llmdmetrics "github.com/llm-d/llm-d-inference-scheduler/pkg/metrics"
	v1 "sigs.k8s.io/gateway-api-inference-extension/api/v1"
	"sigs.k8s.io/gateway-api-inference-extension/apix/v1alpha2"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/metrics"
)

type options struct {
	grpcAddress    string
	metricsAddress string
	probeAddress   string
	modelsPort     string
	qps            float64
	burst          int
}

func parseOptions() options {
	var o options
	flag.StringVar(&o.grpcAddress, "grpc-bind-address", "127.0.0.1:9002", "address that Envoy calls")
	flag.StringVar(&o.metricsAddress, "metrics-bind-address", "127.0.0.1:9090", "address of metrics")
	flag.StringVar(&o.probeAddress, "health-probe-bind-address", "127.0.0.1:9003", "address of readyz")
	flag.StringVar(&o.modelsPort, "models-port", "", "port of the servers of simulated pods")
	flag.Float64Var(&o.qps, "kube-api-qps", 20, "requests a second to the API server")
	flag.IntVar(&o.burst, "kube-api-burst", 30, "requests to the API server in one burst")
	flag.Parse()
	return o
}

func main() {
	o := parseOptions()
	ctrl.SetLogger(zap.New())
	if err := run(o); err != nil {
		ctrl.Log.WithName("setup").Error(err, "cannot run the endpoint pickers")
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
	registerPlugins()
	metrics.Register(llmdmetrics.GetCollectors()...)
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 newScheme(),
		Metrics:                metricsserver.Options{BindAddress: o.metricsAddress},
		HealthProbeBindAddress: o.probeAddress,
	})
	if err != nil {
		return err
	}
	pools := newPools(manager.GetClient(), config, servers{modelsPort: o.modelsPort})
	if err := pools.setup(manager); err != nil {
		return err
	}
	// before the program is ready: Envoy calls it from then on
	listener, err := net.Listen("tcp", o.grpcAddress)
	if err != nil {
		return err
	}
	if err := manager.Add(newServer(listener, pools)); err != nil {
		return err
	}
	if err := manager.AddReadyzCheck("readyz", synced(manager)); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1.Install(scheme))
	utilruntime.Must(v1alpha2.Install(scheme))
	return scheme
}

// synced answers well once everything was read.
func synced(manager ctrl.Manager) func(*http.Request) error {
	return func(request *http.Request) error {
		if !manager.GetCache().WaitForCacheSync(request.Context()) {
			return context.Cause(request.Context())
		}
		return nil
	}
}
