package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kserve/kserve/pkg/apis/serving/v1alpha1"
	"github.com/kserve/kserve/pkg/apis/serving/v1alpha2"
	"github.com/kserve/kserve/pkg/controller/v1alpha2/llmisvc"
	kservescheme "github.com/kserve/kserve/pkg/scheme"
)

// newLLMManager is upstream's cmd/llmisvc: LLMInferenceServices, their conversion, and their webhooks.
func newLLMManager(config *rest.Config, clientset *kubernetes.Clientset, o ctrl.Options) (ctrl.Manager, error) {
	o.Scheme = runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(o.Scheme))
	utilruntime.Must(kservescheme.AddLLMISVCAPIs(o.Scheme))
	children, err := metav1.LabelSelectorAsSelector(&llmisvc.ChildResourcesLabelSelector)
	if err != nil {
		return nil, err
	}
	o.Cache = cache.Options{ByObject: map[client.Object]cache.ByObject{
		&corev1.Secret{}:     {Label: children},
		&corev1.ConfigMap{}:  {Label: children},
		&appsv1.Deployment{}: {Label: children},
		&corev1.Pod{}:        {Label: children},
	}}
	manager, err := ctrl.NewManager(config, o)
	if err != nil {
		return nil, err
	}
	validator := &v1alpha2.LLMInferenceServiceValidator{}
	if err := (&llmisvc.LLMISVCReconciler{
		Client:        withAuth{manager.GetClient(), clientset.Discovery()},
		Clientset:     clientset,
		EventRecorder: recorder(manager, clientset, "LLMInferenceServiceController"),
		Validator: func(ctx context.Context, service *v1alpha2.LLMInferenceService) error {
			_, err := validator.ValidateCreate(ctx, service)
			return err
		},
	}).SetupWithManager(manager); err != nil {
		return nil, err
	}
	for _, each := range []interface{ SetupWithManager(ctrl.Manager) error }{
		validator,
		&v1alpha1.LLMInferenceServiceValidator{},
		&v1alpha2.LLMInferenceServiceConfigValidator{
			ConfigValidationFunc:   validation(clientset),
			WellKnownConfigChecker: llmisvc.WellKnownDefaultConfigs.Has,
		},
		&v1alpha1.LLMInferenceServiceConfigValidator{
			ConfigValidationFunc:   oldValidation(clientset),
			WellKnownConfigChecker: llmisvc.WellKnownDefaultConfigs.Has,
		},
	} {
		if err := each.SetupWithManager(manager); err != nil {
			return nil, err
		}
	}
	// conversion between the two versions
	for _, each := range []runtime.Object{&v1alpha2.LLMInferenceService{}, &v1alpha2.LLMInferenceServiceConfig{}} {
		if err := ctrl.NewWebhookManagedBy(manager).For(each).Complete(); err != nil {
			return nil, err
		}
	}
	return manager, nil
}

// validation says whether the variables of a configuration can be replaced.
func validation(clientset kubernetes.Interface) func(context.Context, *v1alpha2.LLMInferenceServiceConfig) error {
	return func(ctx context.Context, config *v1alpha2.LLMInferenceServiceConfig) error {
		settings, err := llmisvc.LoadConfig(ctx, clientset)
		if err != nil {
			return err
		}
		_, err = llmisvc.ReplaceVariables(llmisvc.LLMInferenceServiceSample(), config, settings)
		return err
	}
}

func oldValidation(clientset kubernetes.Interface) func(context.Context, *v1alpha1.LLMInferenceServiceConfig) error {
	return func(ctx context.Context, config *v1alpha1.LLMInferenceServiceConfig) error {
		converted := &v1alpha2.LLMInferenceServiceConfig{}
		if err := config.ConvertTo(converted); err != nil {
			return err
		}
		return validation(clientset)(ctx, converted)
	}
}
