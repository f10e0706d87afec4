package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	igwapi "sigs.k8s.io/gateway-api-inference-extension/api/v1"
	igwapiv1alpha2 "sigs.k8s.io/gateway-api-inference-extension/apix/v1alpha2"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"
)

const (
	// Gateways of a class with this controller are the lab's.
	controllerName gwapiv1.GatewayController = "lab.psap.perf/gateway"

	message = "emulated: nothing is proxied"
)

// gateways says of the lab's Gateways, of the routes on them and of the pools behind these what the controller of a
// gateway would say: that they are accepted. Nothing is proxied.
type gateways struct{ client.Client }

func addGateways(manager ctrl.Manager) error {
	g := gateways{manager.GetClient()}
	for _, each := range []struct {
		kind   client.Object
		accept reconcile.Func
	}{
		{&gwapiv1.GatewayClass{}, g.acceptClass},
		{&gwapiv1.Gateway{}, g.acceptGateway},
		{&gwapiv1.HTTPRoute{}, g.acceptRoute},
	} {
		if err := ctrl.NewControllerManagedBy(manager).For(each.kind).Complete(each.accept); err != nil {
			return err
		}
	}
	return nil
}

func (g gateways) acceptClass(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var class gwapiv1.GatewayClass
	if err := g.Get(ctx, request.NamespacedName, &class); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if class.Spec.ControllerName != controllerName {
		return ctrl.Result{}, nil
	}
	before := class.DeepCopy()
	setTrue(&class.Status.Conditions, class.Generation, "Accepted")
	return ctrl.Result{}, g.write(ctx, before, &class)
}

func (g gateways) acceptGateway(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var gateway gwapiv1.Gateway
	if err := g.Get(ctx, request.NamespacedName, &gateway); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	ours, err := g.isOurs(ctx, &gateway)
	if err != nil || !ours {
		return ctrl.Result{}, err
	}
	before := gateway.DeepCopy()
	setTrue(&gateway.Status.Conditions, gateway.Generation, "Accepted", "Programmed")
	gateway.Status.Addresses = []gwapiv1.GatewayStatusAddress{{
		Type:  ptr.To(gwapiv1.HostnameAddressType),
		Value: fmt.Sprintf("%s.%s.example.com", gateway.Name, gateway.Namespace),
	}}
	return ctrl.Result{}, g.write(ctx, before, &gateway)
}

func (g gateways) acceptRoute(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var route gwapiv1.HTTPRoute
	if err := g.Get(ctx, request.NamespacedName, &route); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := route.DeepCopy()
	for _, parent := range route.Spec.ParentRefs {
		key := client.ObjectKey{Namespace: route.Namespace, Name: string(parent.Name)}
		if parent.Namespace != nil {
			key.Namespace = string(*parent.Namespace)
		}
		var gateway gwapiv1.Gateway
		// one that is not there yet is looked for again
		if err := g.Get(ctx, key, &gateway); err != nil {
			return ctrl.Result{}, err
		}
		ours, err := g.isOurs(ctx, &gateway)
		if err != nil {
			return ctrl.Result{}, err
		}
		if ours {
			status := statusOf(&route.Status.RouteStatus, parent)
			setTrue(&status.Conditions, route.Generation, "Accepted", "ResolvedRefs")
			if len(backends(&route, igwapiv1alpha2.GroupName)) > 0 {
				// KServe tries it first, and today's gateways do not know it any more
				refuse(&status.Conditions, route.Generation, "ResolvedRefs", string(gwapiv1.RouteReasonInvalidKind))
			}
			if err := g.acceptPools(ctx, &route, key); err != nil {
				return ctrl.Result{}, err
			}
		}
	}
	return ctrl.Result{}, g.write(ctx, before, &route)
}

// acceptPools accepts the pools that a route leads to.
func (g gateways) acceptPools(ctx context.Context, route *gwapiv1.HTTPRoute, gateway client.ObjectKey) error {
	for name := range backends(route, igwapi.GroupName) {
		var pool igwapi.InferencePool
		if err := g.Get(ctx, client.ObjectKey{Namespace: route.Namespace, Name: name}, &pool); err != nil {
			return err
		}
		before := pool.DeepCopy()
		parent := igwapi.ParentReference{
			Kind: "Gateway", Name: igwapi.ObjectName(gateway.Name), Namespace: igwapi.Namespace(gateway.Namespace),
		}
		if len(pool.Status.Parents) != 1 {
			pool.Status.Parents = make([]igwapi.ParentStatus, 1)
		}
		status := &pool.Status.Parents[0]
		status.ParentRef, status.ControllerName = parent, igwapi.ControllerName(controllerName)
		setTrue(&status.Conditions, pool.Generation, "Accepted", "ResolvedRefs")
		if err := g.write(ctx, before, &pool); err != nil {
			return err
		}
	}
	return nil
}

// backends are the names of what a route leads to in a group of kinds.
func backends(route *gwapiv1.HTTPRoute, group string) map[string]bool {
	names := map[string]bool{}
	for _, rule := range route.Spec.Rules {
		for _, backend := range rule.BackendRefs {
			if backend.Group != nil && string(*backend.Group) == group {
				names[string(backend.Name)] = true
			}
		}
	}
	return names
}

// isOurs says whether the class of a Gateway is the lab's. A class that is not there yet, as when both are created at
// once, is an error, so that it is looked for again.
func (g gateways) isOurs(ctx context.Context, gateway *gwapiv1.Gateway) (bool, error) {
	var class gwapiv1.GatewayClass
	err := g.Get(ctx, client.ObjectKey{Name: string(gateway.Spec.GatewayClassName)}, &class)
	return err == nil && class.Spec.ControllerName == controllerName, err
}

func (g gateways) write(ctx context.Context, before, after client.Object) error {
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	return g.Status().Patch(ctx, after, client.MergeFrom(before))
}

// statusOf is what our controller says of a route on one of its parents.
func statusOf(status *gwapiv1.RouteStatus, parent gwapiv1.ParentReference) *gwapiv1.RouteParentStatus {
	for index := range status.Parents {
		each := &status.Parents[index]
		if each.ControllerName == controllerName && equality.Semantic.DeepEqual(each.ParentRef, parent) {
			return each
		}
	}
	added := gwapiv1.RouteParentStatus{ParentRef: parent, ControllerName: controllerName}
	status.Parents = append(status.Parents, added)
	return &status.Parents[len(status.Parents)-1]
}

func refuse(conditions *[]metav1.Condition, generation int64, name, reason string) {
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: name, Status: metav1.ConditionFalse, Reason: reason, Message: message, ObservedGeneration: generation,
	})
}

func setTrue(conditions *[]metav1.Condition, generation int64, types ...string) {
	for _, each := range types {
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type: each, Status: metav1.ConditionTrue, Reason: each, Message: message, ObservedGeneration: generation,
		})
	}
}
