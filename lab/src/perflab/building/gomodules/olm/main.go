// The lab's OLM: upstream's catalog operator, OLM operator and package server in one process outside of a cluster.
//
// Upstream's own programs listen on all interfaces and dial the Services of catalogs; simulated pods have no address
// that may be dialed. Here a connection to a catalog's Service ends in this process, in the catalog that the pod's image
// stands for (catalogs.go). The controllers and the package server are upstream's, unchanged.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	configclientset "github.com/openshift/client-go/config/clientset/versioned"
	"github.com/sirupsen/logrus"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	utilclock "k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/clientset/versioned"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/operators/catalog"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/operators/olm"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/operators/validatingroundtripper"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/lib/operatorclient"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/lib/queueinformer"
	packageserver "github.com/operator-framework/operator-lifecycle-manager/pkg/package-server/server"
)

const (
	// as upstream's programs have them
	catalogResync      = 15 * time.Minute
	olmResync          = 5 * time.Minute
	installPlanTimeout = time.Minute
	unpackTimeout      = 10 * time.Minute
	// no image of OLM's own is needed: bundles of the lab carry their objects
	noImage = "none"
)

type options struct {
	kubeconfig      string
	catalogs        string
	cache           string
	globalNamespace string
	address         string
	packagesPort    int
	certificate     string
	key             string
	qps             float64
	burst           int
}

func parseOptions() options {
	var o options
	flag.StringVar(&o.kubeconfig, "client-kubeconfig", "", "kubeconfig of the cluster")
	flag.StringVar(&o.catalogs, "catalogs", "", "folder of file-based catalogs, with images.json")
	flag.StringVar(&o.cache, "cache", "", "folder for what is computed from the catalogs")
	flag.StringVar(&o.globalNamespace, "global-namespace", "", "namespace whose catalogs serve all namespaces")
	flag.StringVar(&o.address, "health-address", "127.0.0.1:8080", "address of readyz and steps")
	flag.IntVar(&o.packagesPort, "packages-port", 5443, "port of the package server")
	flag.StringVar(&o.certificate, "tls-cert-file", "", "certificate of the package server")
	flag.StringVar(&o.key, "tls-private-key-file", "", "key of the package server")
	flag.Float64Var(&o.qps, "kube-api-qps", 50, "requests a second to the API server")
	flag.IntVar(&o.burst, "kube-api-burst", 100, "requests to the API server in one burst")
	flag.Parse()
	return o
}

func main() {
	o := parseOptions()
	logger := logrus.New()
	if err := run(ctrl.SetupSignalHandler(), o, logger); err != nil {
		logger.WithError(err).Error("cannot run OLM")
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, logger *logrus.Logger) error {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = float32(o.qps), o.burst
	cluster, err := watchCluster(ctx, kubernetes.NewForConfigOrDie(config), logger)
	if err != nil {
		return err
	}
	if err := serveCatalogs(ctx, o.catalogs, o.cache, cluster, logger); err != nil {
		return err
	}
	var beginning sync.WaitGroup
	beginning.Add(2)
	ready := make(chan struct{})
	go func() {
		beginning.Wait()
		awaitPackages(ctx, o.packagesPort)
		close(ready)
	}()
	parts := []func() error{
		func() error { return serveHealth(o.address, cluster, ready) },
		func() error { return cluster.followSteps(ctx) },
		func() error { return servePackages(ctx, o) },
		func() error { return runCatalogOperator(ctx, o, logger, beginning.Done) },
		func() error { return runOLMOperator(ctx, config, logger, beginning.Done) },
	}
	ended := make(chan error, len(parts))
	for _, part := range parts {
		go func() { ended <- part() }()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return err
	}
}

func runCatalogOperator(ctx context.Context, o options, logger *logrus.Logger, begun func()) error {
	scheme := clientgoscheme.Scheme
	for _, add := range []func() error{
		func() error { return apiextensionsv1.AddToScheme(scheme) },
		func() error { return apiregistrationv1.AddToScheme(scheme) },
	} {
		if err := add(); err != nil {
			return err
		}
	}
	operator, err := catalog.NewOperator(ctx, o.kubeconfig, utilclock.RealClock{}, logger, catalogResync,
		noImage, noImage, noImage, o.globalNamespace, scheme, installPlanTimeout, unpackTimeout, -1)
	if err != nil {
		return fmt.Errorf("the catalog operator: %w", err)
	}
	operator.Run(ctx)
	<-operator.Ready()
	begun()
	<-operator.Done()
	return errors.New("the catalog operator has ended")
}

func runOLMOperator(ctx context.Context, config *rest.Config, logger *logrus.Logger, begun func()) error {
	manager, err := newManager(config)
	if err != nil {
		return fmt.Errorf("the manager of OLM: %w", err)
	}
	// as upstream does: what is created without OLM's labels would not be seen again
	validating := validatingroundtripper.Wrap(config)
	client, err := operatorclient.NewClientFromRestConfig(validating)
	if err != nil {
		return err
	}
	operator, err := olm.NewOperator(ctx,
		olm.WithLogger(logger),
		olm.WithWatchedNamespaces(""),
		olm.WithResyncPeriod(queueinformer.ResyncWithJitter(olmResync, 0.2)),
		olm.WithExternalClient(versioned.NewForConfigOrDie(config)),
		olm.WithMetadataClient(metadata.NewForConfigOrDie(config)),
		olm.WithOperatorClient(client),
		olm.WithRestConfig(validating),
		olm.WithConfigClient(configclientset.NewForConfigOrDie(config)),
	)
	if err != nil {
		return fmt.Errorf("the OLM operator: %w", err)
	}
	operator.Run(ctx)
	<-operator.Ready()
	begun()
	return manager.Start(ctx)
}

// The API packages.operators.coreos.com, which an APIService of the cluster leads to. The API server has checked
// who asks, and what they may.
func servePackages(ctx context.Context, o options) error {
	server := packageserver.NewPackageServerOptions(os.Stdout, os.Stderr)
	server.DisableAuthForTesting = true
	server.Kubeconfig = o.kubeconfig
	server.GlobalNamespace = o.globalNamespace
	server.SecureServing.BindAddress = net.ParseIP("127.0.0.1")
	server.SecureServing.BindPort = o.packagesPort
	server.SecureServing.ServerCert.CertKey.CertFile = o.certificate
	server.SecureServing.ServerCert.CertKey.KeyFile = o.key
	if err := server.Run(ctx); err != nil {
		return fmt.Errorf("the package server: %w", err)
	}
	return nil
}

// awaitPackages returns when the package server answers.
func awaitPackages(ctx context.Context, port int) {
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for ctx.Err() == nil {
		// it is this process
		conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
		if err == nil {
			_ = conn.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func serveHealth(address string, cluster *cluster, ready <-chan struct{}) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(answer http.ResponseWriter, _ *http.Request) {
		select {
		case <-ready:
		default:
			answer.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("/steps", func(answer http.ResponseWriter, _ *http.Request) {
		answer.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(answer, "%q", cluster.known.Load())
	})
	return http.ListenAndServe(address, mux)
}
