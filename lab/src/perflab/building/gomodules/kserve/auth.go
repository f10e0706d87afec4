package main

import (
	"context"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/kserve/kserve/pkg/apis/serving/v1alpha2"
)

const (
	enableAuth = "security.opendatahub.io/enable-auth"
	// whether the lab's gateway wants a bearer token in requests of an HTTPRoute
	bearerToken   = "lab.psap.perf/bearer-token"
	notReconciled = "HTTPRouteReconcileError"
	notMet        = "GatewayPreconditionNotMet"
)

var errNotMet = errors.New("precondition not met")

// withAuth is a client by which upstream's controller treats LLMInferenceServices as Open Data Hub's build of KServe
// does, while the cluster serves DataScienceCluster in v2, as Open Data Hub 3 and OpenShift AI 3 have it.
//
// There requests need a token unless the service has the annotation enable-auth "false". The kind AuthPolicy of
// Kuadrant says how it is checked; while that is missing, the service's HTTPRoute is deleted. Open Data Hub does not
// try again then, the lab does.
type withAuth struct {
	client.Client
	discovery discovery.DiscoveryInterface
}

func (c withAuth) Get(ctx context.Context, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
	if err := c.Client.Get(ctx, key, object, o...); err != nil {
		return err
	}
	route, isRoute := object.(*gwapiv1.HTTPRoute)
	if !isRoute {
		return nil
	}
	err := c.protect(ctx, route.DeepCopy())
	if !errors.Is(err, errNotMet) {
		return err
	}
	if err := c.Client.Delete(ctx, route.DeepCopy()); client.IgnoreNotFound(err) != nil {
		return err
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: gwapiv1.GroupName, Resource: "httproutes"}, key.Name)
}

func (c withAuth) Create(ctx context.Context, object client.Object, o ...client.CreateOption) error {
	if err := c.protect(ctx, object); err != nil {
		return err
	}
	return c.Client.Create(ctx, object, o...)
}

func (c withAuth) Update(ctx context.Context, object client.Object, o ...client.UpdateOption) error {
	if err := c.protect(ctx, object); err != nil {
		return err
	}
	return c.Client.Update(ctx, object, o...)
}

// protect annotates an HTTPRoute of an LLMInferenceService; it fails with errNotMet where no token could be checked.
func (c withAuth) protect(ctx context.Context, object client.Object) error {
	route, isRoute := object.(*gwapiv1.HTTPRoute)
	if !isRoute {
		return nil
	}
	owner := metav1.GetControllerOf(route)
	if owner == nil || owner.Kind != "LLMInferenceService" {
		return nil
	}
	applies, err := c.serves("datasciencecluster.opendatahub.io/v2", "DataScienceCluster")
	if err != nil || !applies {
		return err
	}
	service := &v1alpha2.LLMInferenceService{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: route.Namespace, Name: owner.Name}, service); err != nil {
		return client.IgnoreNotFound(err)
	}
	if strings.EqualFold(service.Annotations[enableAuth], "false") {
		metav1.SetMetaDataAnnotation(&route.ObjectMeta, bearerToken, "false")
		return nil
	}
	checked, err := c.serves("kuadrant.io/v1", "AuthPolicy")
	if err != nil {
		return err
	}
	if !checked {
		return errNotMet
	}
	metav1.SetMetaDataAnnotation(&route.ObjectMeta, bearerToken, "true")
	return nil
}

func (c withAuth) serves(groupVersion, kind string) (bool, error) {
	found, err := c.discovery.ServerResourcesForGroupVersion(groupVersion)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, each := range found.APIResources {
		if each.Kind == kind {
			return true, nil
		}
	}
	return false, nil
}

func (c withAuth) Status() client.SubResourceWriter {
	return statusOfAuth{c.Client.Status()}
}

// statusOfAuth has Open Data Hub's reason of a missing HTTPRoute in place of that of the refused request.
type statusOfAuth struct{ client.SubResourceWriter }

func (w statusOfAuth) Update(ctx context.Context, object client.Object, o ...client.SubResourceUpdateOption) error {
	if service, isService := object.(*v1alpha2.LLMInferenceService); isService {
		for i := range service.Status.Conditions {
			each := &service.Status.Conditions[i]
			if each.Reason == notReconciled && strings.Contains(each.Message, errNotMet.Error()) {
				each.Reason, each.Message = notMet, errNotMet.Error()
			}
		}
	}
	return w.SubResourceWriter.Update(ctx, object, o...)
}
