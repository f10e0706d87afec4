package main

import (
	"context"
	"net"
	"strings"

	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// poolKey is the metadata of a call that names the pool, NAMESPACE/NAME.
const poolKey = "x-lab-inference-pool"

// server passes each request of Envoy to the picker of its pool.
type server struct {
	listener net.Listener
	pools    *pools
}

func newServer(listener net.Listener, pools *pools) *server {
	return &server{listener, pools}
}

// Start serves until the context ends.
func (s *server) Start(ctx context.Context) error {
	serving := grpc.NewServer()
	extproc.RegisterExternalProcessorServer(serving, s)
	go func() {
		<-ctx.Done()
		serving.Stop()
	}()
	return serving.Serve(s.listener)
}

// Process is the call of Envoy for one request.
func (s *server) Process(stream extproc.ExternalProcessor_ProcessServer) error {
	named := metadata.ValueFromIncomingContext(stream.Context(), poolKey)
	if len(named) != 1 {
		return status.Errorf(codes.InvalidArgument, "the call has no %s", poolKey)
	}
	namespace, name, _ := strings.Cut(named[0], "/")
	picker, err := s.pools.of(namespace, name)
	if err != nil {
		return status.Error(codes.Unavailable, err.Error())
	}
	return picker.Process(stream)
}
