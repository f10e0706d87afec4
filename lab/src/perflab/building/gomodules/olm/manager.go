package main

import (
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/install"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/operators"
)

// newManager is cmd/olm/manager.go of upstream, which is no package: the controllers of Operators and
// OperatorConditions, with a cache of what belongs to OLM only.
func newManager(config *rest.Config) (ctrl.Manager, error) {
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		return nil, err
	}
	if err := operators.AddToScheme(scheme); err != nil {
		return nil, err
	}
	notCopied, err := labels.NewRequirement(operatorsv1alpha1.CopiedLabelKey, selection.DoesNotExist, nil)
	if err != nil {
		return nil, err
	}
	managed := cache.ByObject{
		Label: labels.SelectorFromSet(labels.Set{install.OLMManagedLabelKey: install.OLMManagedLabelValue}),
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{
			ByObject: map[client.Object]cache.ByObject{
				&appsv1.Deployment{}:                                      managed,
				&corev1.Service{}:                                         managed,
				&apiextensionsv1.CustomResourceDefinition{}:               managed,
				&apiregistrationv1.APIService{}:                           managed,
				&corev1.ConfigMap{}:                                       managed,
				&corev1.ServiceAccount{}:                                  managed,
				&rbacv1.Role{}:                                            managed,
				&rbacv1.RoleBinding{}:                                     managed,
				&rbacv1.ClusterRole{}:                                     managed,
				&rbacv1.ClusterRoleBinding{}:                              managed,
				&admissionregistrationv1.MutatingWebhookConfiguration{}:   managed,
				&admissionregistrationv1.ValidatingWebhookConfiguration{}: managed,
				&operatorsv1alpha1.ClusterServiceVersion{}:                {Label: labels.NewSelector().Add(*notCopied)},
			},
		},
	})
	if err != nil {
		return nil, err
	}
	client, scheme := manager.GetClient(), manager.GetScheme()
	log := func(name string) logr.Logger { return ctrl.Log.WithName("controllers").WithName(name) }
	conditions, err := operators.NewOperatorConditionReconciler(client, log("operatorcondition"), scheme)
	if err != nil {
		return nil, err
	}
	generated, err := operators.NewOperatorConditionGeneratorReconciler(client, log("operatorcondition-generator"), scheme)
	if err != nil {
		return nil, err
	}
	operator, err := operators.NewOperatorReconciler(client, log("operator"), scheme)
	if err != nil {
		return nil, err
	}
	adoption, err := operators.NewAdoptionReconciler(client, log("adoption"), scheme)
	if err != nil {
		return nil, err
	}
	for _, each := range []interface{ SetupWithManager(ctrl.Manager) error }{conditions, generated, operator, adoption} {
		if err := each.SetupWithManager(manager); err != nil {
			return nil, err
		}
	}
	return manager, nil
}
