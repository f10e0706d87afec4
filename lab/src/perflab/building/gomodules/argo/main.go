// The lab's Argo Workflows: upstream's controller, run outside a cluster.
//
// Upstream's own program serves health and profiles at port 6060 of every address, which labs cannot share. Here the
// health has a settable address. The controller is upstream's, unchanged.
package main

import (
	"context"
	"flag"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	log "github.com/sirupsen/logrus"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned"
	cmdutil "github.com/argoproj/argo-workflows/v3/util/cmd"
	"github.com/argoproj/argo-workflows/v3/workflow/controller"
)

type options struct {
	kubeconfig    string
	namespace     string
	configMap     string
	healthAddr    string
	executorImage string
	threads       int
	qps           float64
	burst         int
}

func parseOptions() options {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "address and credentials of the cluster")
	flag.StringVar(&o.namespace, "namespace", "argo", "namespace of the ConfigMap")
	flag.StringVar(&o.configMap, "configmap", "workflow-controller-configmap", "ConfigMap with settings")
	flag.StringVar(&o.healthAddr, "health-probe-bind-address", "127.0.0.1:6060", "address of healthz")
	flag.StringVar(&o.executorImage, "executor-image", "", "image of the executor in the pods of steps")
	flag.IntVar(&o.threads, "controller-threads", 1, "objects of a kind reconciled at once")
	flag.Float64Var(&o.qps, "kube-api-qps", 20, "requests a second to the API server")
	flag.IntVar(&o.burst, "kube-api-burst", 30, "requests to the API server in one burst")
	flag.Parse()
	return o
}

func main() {
	if err := run(parseOptions()); err != nil {
		log.WithError(err).Error("cannot run Argo Workflows")
		os.Exit(1)
	}
}

func run(o options) error {
	// the controller passes both on to the executor
	cmdutil.SetLogLevel("info")
	cmdutil.SetGLogLevel(0)
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = float32(o.qps)
	config.Burst = o.burst
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	workflows, err := controller.NewWorkflowController(
		ctx, config, kubernetes.NewForConfigOrDie(config), versioned.NewForConfigOrDie(config),
		o.namespace, "", o.executorImage, "IfNotPresent", "text", o.configMap, false,
	)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- http.ListenAndServe(o.healthAddr, health(workflows)) }()
	go workflows.Run(ctx, o.threads, 1, o.threads, 1, 1)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

// health answers as upstream's probe once the controller has started to read Workflows.
func health(workflows *controller.WorkflowController) http.Handler {
	handler := http.NewServeMux()
	handler.HandleFunc("/healthz", func(writer http.ResponseWriter, request *http.Request) {
		if !workflows.IsLeader() {
			http.Error(writer, "not started", http.StatusServiceUnavailable)
			return
		}
		workflows.Healthz(writer, request)
	})
	return handler
}
