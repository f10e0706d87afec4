package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/net/proxy"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/operator-framework/operator-registry/pkg/api"
	"github.com/operator-framework/operator-registry/pkg/cache"
	"github.com/operator-framework/operator-registry/pkg/server"
)

const (
	scheme     = "lab-catalogs"
	bufferSize = 1 << 20
	// less than the 20 s that gRPC gives a connection
	dialTimeout = 15 * time.Second
)

// catalogs are the servers of the lab's catalogs, each behind a listener in memory.
type catalogs struct {
	cluster   *cluster
	logger    *logrus.Logger
	images    map[string][]string
	listeners map[string]*bufconn.Listener
}

// serveCatalogs loads the catalogs of folder, one a subfolder, and has every gRPC connection that OLM opens to the
// Service of a CatalogSource end in the one that the image of the Service's ready pod stands for. The patterns of images
// are in images.json, catalog by catalog.
func serveCatalogs(ctx context.Context, folder, cacheFolder string, cluster *cluster, logger *logrus.Logger) error {
	c := &catalogs{cluster: cluster, logger: logger, listeners: map[string]*bufconn.Listener{}}
	content, err := os.ReadFile(filepath.Join(folder, "images.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, &c.images); err != nil {
		return fmt.Errorf("images.json: %w", err)
	}
	// what a killed process left of it may be half written
	if err := os.RemoveAll(cacheFolder); err != nil {
		return err
	}
	for name := range c.images {
		store, err := cache.New(filepath.Join(cacheFolder, name))
		if err != nil {
			return err
		}
		if err := cache.LoadOrRebuild(ctx, store, os.DirFS(filepath.Join(folder, name))); err != nil {
			return fmt.Errorf("the catalog %s: %w", name, err)
		}
		listener := bufconn.Listen(bufferSize)
		registry := grpc.NewServer()
		api.RegisterRegistryServer(registry, server.NewRegistryServer(store))
		go func() { _ = registry.Serve(listener) }()
		c.listeners[name] = listener
	}
	proxy.RegisterDialerType(scheme, func(*url.URL, proxy.Dialer) (proxy.Dialer, error) { return c, nil })
	// OLM asks for its proxy each time that it connects to a catalog
	return os.Setenv("GRPC_PROXY", scheme+"://in-process")
}

// Dial connects to the catalog behind a Service, such as nfd.default.svc:50051. As long as there is none that answers it
// waits, as a connection whose packets are lost does.
func (c *catalogs) Dial(_, address string) (net.Conn, error) {
	service, namespace, found := strings.Cut(strings.Split(address, ".svc")[0], ".")
	if !found {
		return nil, fmt.Errorf("dial %s: the lab has no such address", address)
	}
	deadline := time.After(dialTimeout)
	for {
		changed := c.cluster.changes()
		source := c.cluster.source(namespace, service)
		until, refusal := c.cluster.steps().catalog(source)
		if source.image != "" && refusal == "" && until.Before(time.Now()) {
			return c.connect(source)
		}
		if refusal != "" && c.cluster.refuse(namespace, service) {
			return nil, fmt.Errorf("dial %s: %s", address, refusal)
		}
		select {
		case <-changed:
		case <-time.After(time.Until(until)):
		case <-deadline:
			return nil, fmt.Errorf("dial %s: timeout", address)
		}
	}
}

func (c *catalogs) connect(source source) (net.Conn, error) {
	for name, patterns := range c.images {
		for _, pattern := range patterns {
			if matched, _ := path.Match(pattern, source.image); matched {
				conn, err := c.listeners[name].Dial()
				if err != nil {
					return nil, err
				}
				c.cluster.keep(source, conn)
				return conn, nil
			}
		}
	}
	return nil, fmt.Errorf("the lab has no catalog of the image %s", source.image)
}
