package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	runserver "sigs.k8s.io/gateway-api-inference-extension/pkg/epp/server"
)

// arguments are those of a scheduler's container that have an effect in the lab.
type arguments struct {
	poolName, poolNamespace, poolGroup string
	configText                         string
	queuedMetric, cacheUsageMetric     string
	loraMetric, cacheInfoMetric        string
	metricsPort                        int
	metricsPath, metricsScheme         string
	refreshInterval, staleAfter        time.Duration
}

// parse reads the arguments of upstream's program; it refuses the flags that upstream does not have.
func parse(words []string) (arguments, error) {
	var a arguments
	flags := flag.NewFlagSet("epp", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&a.poolName, "pool-name", "", "")
	flags.StringVar(&a.poolNamespace, "pool-namespace", "", "")
	flags.StringVar(&a.poolGroup, "pool-group", runserver.DefaultPoolGroup, "")
	flags.StringVar(&a.configText, "config-text", "", "")
	flags.StringVar(&a.queuedMetric, "total-queued-requests-metric", runserver.DefaultTotalQueuedRequestsMetric, "")
	flags.StringVar(&a.cacheUsageMetric, "kv-cache-usage-percentage-metric", runserver.DefaultKvCacheUsagePercentageMetric, "")
	flags.StringVar(&a.loraMetric, "lora-info-metric", runserver.DefaultLoraInfoMetric, "")
	flags.StringVar(&a.cacheInfoMetric, "cache-info-metric", runserver.DefaultCacheInfoMetric, "")
	flags.IntVar(&a.metricsPort, "model-server-metrics-port", 0, "")
	flags.StringVar(&a.metricsPath, "model-server-metrics-path", "/metrics", "")
	flags.StringVar(&a.metricsScheme, "model-server-metrics-scheme", "http", "")
	flags.DurationVar(&a.refreshInterval, "refresh-metrics-interval", runserver.DefaultRefreshMetricsInterval, "")
	flags.DurationVar(&a.staleAfter, "metrics-staleness-threshold", runserver.DefaultMetricsStalenessThreshold, "")
	configFile := flags.String("config-file", "", "")
	selector := flags.String("endpoint-selector", "", "")
	withoutEffect(flags)
	if err := flags.Parse(words); err != nil {
		return a, err
	}
	switch {
	case a.poolName == "" || *selector != "":
		return a, errors.New("the lab runs pickers with --pool-name only")
	case *configFile != "":
		return a, errors.New("the lab reads no --config-file of a simulated pod: use --config-text")
	case a.configText == "":
		return a, errors.New("scheduler config must be set: --config-text is missing")
	case a.metricsScheme != "http":
		return a, fmt.Errorf("the lab's servers have no %s: --model-server-metrics-scheme", a.metricsScheme)
	}
	return a, nil
}

// withoutEffect are the other flags of upstream's program: its own addresses, certificates, log and replicas.
func withoutEffect(flags *flag.FlagSet) {
	for _, name := range []string{"grpc-port", "grpc-health-port", "metrics-port", "v"} {
		flags.Int(name, 0, "")
	}
	for _, name := range []string{"cert-path", "endpoint-target-ports", "kubeconfig", "zap-encoder", "zap-log-level",
		"zap-stacktrace-level", "zap-time-encoding"} {
		flags.String(name, "", "")
	}
	for _, name := range []string{"metrics-endpoint-auth", "enable-pprof", "secure-serving", "health-checking",
		"model-server-metrics-https-insecure-skip-verify", "ha-enable-leader-election", "tracing", "zap-devel"} {
		flags.Bool(name, false, "")
	}
	flags.Duration("refresh-prometheus-metrics-interval", 0, "")
}
