package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	stepsNamespace  = "kube-system"
	stepsName       = "perflab-steps"
	never           = "never"
	fail            = "fail:"
	operatorLabel   = "lab.psap.perf/operator"
	operatorVersion = "lab.psap.perf/operator-version"
	startDelay      = "lab.psap.perf/start-delay"
	// what the cluster's admission policy of this step makes of `never`
	endless = "8760h"
)

// steps are what `perflab step` has set, in one version of its ConfigMap.
type steps struct {
	version string
	values  map[string]string
}

// of is the value of a step for an object, which may have one of its own.
func (s steps) of(step, object string) (delay, failure string) {
	value, found := s.values["olm."+step+"."+object]
	if !found {
		value = s.values["olm."+step]
	}
	delay, failure, _ = strings.Cut(value, fail)
	return strings.TrimSuffix(strings.TrimSpace(delay), ","), strings.TrimSpace(failure)
}

// catalog tells until when a catalog that has become ready does not answer, and with which text it refuses then.
func (s steps) catalog(source source) (until time.Time, refusal string) {
	delay, failure := s.of("catalog", source.name)
	until = time.Unix(source.ready, 0)
	if delay == never {
		return time.Now().Add(time.Hour), ""
	}
	if duration, err := time.ParseDuration(delay); err == nil {
		until = until.Add(duration)
	}
	if until.After(time.Now()) {
		return until, ""
	}
	return until, failure
}

// csv is the delay with which the pods of a ClusterServiceVersion start; none when its Deployments are refused.
func (s steps) csv(name string) string {
	delay, failure := s.of("csv", name)
	switch {
	case failure != "":
		return ""
	case delay == never:
		return endless
	}
	return delay
}

// delayPods has the operators' pods that do not run yet start as the steps say now. An admission policy does so when
// pods are created.
func (c *cluster) delayPods(ctx context.Context, now steps) error {
	pods, err := c.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{
		LabelSelector: operatorLabel,
		FieldSelector: "status.phase=" + string(corev1.PodPending),
	})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		delay := now.csv(pod.Annotations[operatorVersion])
		if pod.Annotations[startDelay] == delay {
			continue
		}
		value := "null"
		if delay != "" {
			value = fmt.Sprintf("%q", delay)
		}
		change := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, startDelay, value)
		_, err := c.client.CoreV1().Pods(pod.Namespace).Patch(
			ctx, pod.Name, types.MergePatchType, []byte(change), metav1.PatchOptions{})
		if err != nil {
			c.logger.WithError(err).Warnf("cannot change the pod %s/%s", pod.Namespace, pod.Name)
		}
	}
	return nil
}

// followSteps does so after each change of the steps.
func (c *cluster) followSteps(ctx context.Context) error {
	for {
		changed, now := c.changes(), c.steps()
		if now.version != c.known.Load() {
			if err := c.delayPods(ctx, now); err != nil {
				c.logger.WithError(err).Warn("cannot look at the operators' pods")
				time.Sleep(time.Second)
				continue
			}
			c.known.Store(now.version)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}
