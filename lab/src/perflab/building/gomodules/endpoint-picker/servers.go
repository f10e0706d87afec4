package main

import (
	"context"
	"net"
	"strings"

	backendmetrics "sigs.k8s.io/gateway-api-inference-extension/pkg/epp/backend/metrics"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/datalayer"
)

// servers says where this machine reaches the server of a pod. A pod of the real node has its own address; the server of
// a simulated pod listens on loopback, at 127.128.0.7 for 10.128.0.7, and all of them at one port.
type servers struct{ modelsPort string }

func (s servers) of(pod *datalayer.PodInfo) *datalayer.PodInfo {
	rest, simulated := strings.CutPrefix(pod.Address, "10.")
	if !simulated {
		return pod
	}
	reached := *pod
	reached.Address, reached.Port = "127."+rest, s.modelsPort
	reached.MetricsHost = net.JoinHostPort(reached.Address, reached.Port)
	return &reached
}

// factory is upstream's, of endpoints where this machine reaches them.
type factory struct {
	*backendmetrics.PodMetricsFactory
	servers servers
}

func (f factory) NewEndpoint(ctx context.Context, pod *datalayer.PodInfo, pool datalayer.PoolInfo) datalayer.Endpoint {
	return endpoint{f.PodMetricsFactory.NewEndpoint(ctx, f.servers.of(pod), pool), f.servers}
}

func (f factory) ReleaseEndpoint(released datalayer.Endpoint) {
	f.PodMetricsFactory.ReleaseEndpoint(released.(endpoint).Endpoint)
}

type endpoint struct {
	datalayer.Endpoint
	servers servers
}

func (e endpoint) UpdatePod(pod *datalayer.PodInfo) {
	e.Endpoint.UpdatePod(e.servers.of(pod))
}
