package main

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kserve/kserve/pkg/apis/serving/v1beta1"
	"github.com/kserve/kserve/pkg/controller/v1beta1/inferenceservice"
	kservescheme "github.com/kserve/kserve/pkg/scheme"
	"github.com/kserve/kserve/pkg/webhook/admission/pod"
	"github.com/kserve/kserve/pkg/webhook/admission/servingruntime"
)

// newManager is upstream's cmd/manager: InferenceServices, and the webhooks of their runtimes and pods.
func newManager(config *rest.Config, clientset *kubernetes.Clientset, o ctrl.Options) (ctrl.Manager, error) {
	o.Scheme = runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(o.Scheme))
	utilruntime.Must(kservescheme.AddAll(o.Scheme))
	var err error
	if o.Cache, err = inferenceservice.NewCacheOptions(); err != nil {
		return nil, err
	}
	manager, err := ctrl.NewManager(config, o)
	if err != nil {
		return nil, err
	}
	settings, err := v1beta1.GetInferenceServiceConfigMap(context.Background(), clientset)
	if err != nil {
		return nil, err
	}
	deploy, err := v1beta1.NewDeployConfig(settings)
	if err != nil {
		return nil, err
	}
	ingress, err := v1beta1.NewIngressConfig(settings)
	if err != nil {
		return nil, err
	}
	// it sets what counts as a GPU
	if _, err := v1beta1.NewMultiNodeConfig(settings); err != nil {
		return nil, err
	}
	if err := (&inferenceservice.InferenceServiceReconciler{
		Client:    manager.GetClient(),
		Clientset: clientset,
		Log:       ctrl.Log.WithName("InferenceService"),
		Scheme:    manager.GetScheme(),
		Recorder:  recorder(manager, clientset, "v1beta1Controllers"),
	}).SetupWithManager(manager, deploy, ingress); err != nil {
		return nil, err
	}
	return manager, addWebhooks(manager, clientset)
}

func addWebhooks(manager ctrl.Manager, clientset *kubernetes.Clientset) error {
	decoder, reader := admission.NewDecoder(manager.GetScheme()), manager.GetClient()
	for path, handler := range map[string]admission.Handler{
		"/mutate-pods": &pod.Mutator{Client: reader, Clientset: clientset, Decoder: decoder},
		"/validate-serving-kserve-io-v1alpha1-clusterservingruntime": &servingruntime.ClusterServingRuntimeValidator{
			Client: reader, Decoder: decoder,
		},
		"/validate-serving-kserve-io-v1alpha1-servingruntime": &servingruntime.ServingRuntimeValidator{
			Client: reader, Decoder: decoder,
		},
	} {
		manager.GetWebhookServer().Register(path, &webhook.Admission{Handler: handler})
	}
	return ctrl.NewWebhookManagedBy(manager).
		For(&v1beta1.InferenceService{}).
		WithDefaulter(&v1beta1.InferenceServiceDefaulter{}).
		WithValidator(&v1beta1.InferenceServiceValidator{}).
		Complete()
}
