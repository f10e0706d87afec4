// The lab's KubeRay: upstream's controllers of RayClusters and RayJobs, run outside a cluster.
//
// Upstream's own program asks the dashboard in a head pod how a job is; simulated pods have no address that may be
// dialed. Here the dashboard's answer follows from the pods (dashboard.go). The controllers are upstream's, unchanged.
package main

import (
	"context"
	"flag"
	"net/http"
	"os"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	configapi "github.com/ray-project/kuberay/ray-operator/apis/config/v1alpha1"
	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray"
)

type options struct {
	probeAddr string
	threads   int
	qps       float64
	burst     int
}

func parseOptions() options {
	var o options
	flag.StringVar(&o.probeAddr, "health-probe-bind-address", "127.0.0.1:8082", "address of readyz")
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
		ctrl.Log.WithName("setup").Error(err, "cannot run KubeRay")
		os.Exit(1)
	}
}

func run(o options) error {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(rayv1.AddToScheme(scheme))
	utilruntime.Must(batchv1.AddToScheme(scheme))
	client, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	client.QPS = float32(o.qps)
	client.Burst = o.burst
	manager, err := ctrl.NewManager(client, ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: o.probeAddr,
	})
	if err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	clusters := ray.NewReconciler(ctx, manager, ray.RayClusterReconcilerOptions{}, configapi.Configuration{})
	if err := clusters.SetupWithManager(manager, o.threads); err != nil {
		return err
	}
	if err := ray.NewRayJobReconciler(ctx, manager, provider{}).SetupWithManager(manager, o.threads); err != nil {
		return err
	}
	if err := manager.AddReadyzCheck("readyz", synced(ctx, manager)); err != nil {
		return err
	}
	return manager.Start(ctx)
}

// synced answers well once everything was read.
func synced(ctx context.Context, manager ctrl.Manager) func(*http.Request) error {
	return func(request *http.Request) error {
		if !manager.GetCache().WaitForCacheSync(request.Context()) {
			return ctx.Err()
		}
		return nil
	}
}
