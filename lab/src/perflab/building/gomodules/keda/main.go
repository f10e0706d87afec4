// The lab's metrics adapter of KEDA: upstream's provider of external metrics, run outside a cluster.
//
// Upstream's own program serves its Prometheus metrics on all addresses, and reads its kubeconfig from two places. Here
// the only listener is the API, which has a settable address. The provider and the server are upstream's, unchanged.
package main

import (
	"context"
	"fmt"
	"os"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	basecmd "sigs.k8s.io/custom-metrics-apiserver/pkg/cmd"

	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	"github.com/kedacore/keda/v2/pkg/metricsservice"
	"github.com/kedacore/keda/v2/pkg/provider"
)

type adapter struct {
	basecmd.AdapterBase
	operator string
	certDir  string
}

func main() {
	ctrl.SetLogger(zap.New())
	if err := run(ctrl.SetupSignalHandler()); err != nil {
		ctrl.Log.WithName("setup").Error(err, "cannot run KEDA's metrics adapter")
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	a := &adapter{}
	a.Name = "keda-adapter"
	a.Flags().StringVar(&a.operator, "metrics-service-address", "127.0.0.1:9666", "address of the operator's metrics")
	a.Flags().StringVar(&a.certDir, "metrics-service-cert-dir", "", "folder with ca.crt, tls.crt and tls.key for it")
	if err := a.Flags().Parse(os.Args[1:]); err != nil {
		return err
	}
	if err := a.addProvider(ctx); err != nil {
		return fmt.Errorf("connect to the operator: %w", err)
	}
	return a.Run(ctx)
}

// addProvider makes the adapter answer with what the operator measures.
func (a *adapter) addProvider(ctx context.Context) error {
	if err := kedav1alpha1.AddToScheme(scheme.Scheme); err != nil {
		return err
	}
	config, err := a.ClientConfig()
	if err != nil {
		return err
	}
	objects, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return err
	}
	connection, err := metricsservice.NewGrpcClient(
		ctx, a.operator, a.certDir, "", "", grpcprom.NewClientMetrics(), false)
	if err != nil {
		return err
	}
	a.WithExternalMetrics(provider.NewProvider(ctx, ctrl.Log, objects, *connection))
	return nil
}
