package main

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
)

// What ends a simulated program at once, as one that failed.
var dies = map[string]any{"metadata": map[string]any{"annotations": map[string]string{
	"lab.psap.perf/duration": "1ms", "lab.psap.perf/exit-code": "1",
}}}

type provider struct{}

func (provider) GetDashboardClient(m manager.Manager) func() utils.RayDashboardClientInterface {
	return func() utils.RayDashboardClientInterface { return &dashboard{client: m.GetClient()} }
}

func (provider) GetHttpProxyClient(manager.Manager) func() utils.RayHttpProxyClientInterface {
	return nil
}

// dashboard answers for a job what its submitter's pod and its cluster's pods say. What is not asked for by the
// controllers of RayClusters and RayJobs panics.
type dashboard struct {
	utils.RayDashboardClientInterface
	client  client.Client
	cluster *rayv1.RayCluster
}

func (d *dashboard) InitClient(_ context.Context, _ string, cluster *rayv1.RayCluster) error {
	d.cluster = cluster
	return nil
}

func (d *dashboard) StopJob(context.Context, string) error { return nil }

func (d *dashboard) GetJobInfo(ctx context.Context, id string) (*utils.RayJobInfo, error) {
	submitter, err := d.submitter(ctx)
	if err != nil || submitter == nil {
		return &utils.RayJobInfo{JobId: id, JobStatus: rayv1.JobStatusPending}, err
	}
	whole, err := d.isWhole(ctx, submitter)
	if err != nil {
		return nil, err
	}
	if submitter.Status.Phase == corev1.PodRunning && !whole {
		// the program dies with the process that it lost, and `ray job submit`, which waits for it, with the program
		return failed(id, "a process of the training was lost"), d.end(ctx, submitter)
	}
	if submitter.Status.Phase == corev1.PodFailed {
		return failed(id, exit(submitter)), nil
	}
	return &utils.RayJobInfo{JobId: id, JobStatus: status(submitter.Status.Phase)}, nil
}

func failed(id, why string) *utils.RayJobInfo {
	message := fmt.Sprintf("Job entrypoint command failed: %s", why)
	return &utils.RayJobInfo{JobId: id, JobStatus: rayv1.JobStatusFailed, Message: message}
}

// exit says how the first container of a pod ended.
func exit(pod *corev1.Pod) string {
	for _, container := range pod.Status.ContainerStatuses {
		if ended := container.State.Terminated; ended != nil {
			return fmt.Sprintf("exit code %d %s", ended.ExitCode, ended.Message)
		}
	}
	return pod.Status.Reason
}

func status(phase corev1.PodPhase) rayv1.JobStatus {
	switch phase {
	case corev1.PodRunning:
		return rayv1.JobStatusRunning
	case corev1.PodSucceeded:
		return rayv1.JobStatusSucceeded
	default:
		return rayv1.JobStatusPending
	}
}

// submitter is the newest pod of the Job that submits, which has the name of the RayJob; nil when there is none yet.
func (d *dashboard) submitter(ctx context.Context) (*corev1.Pod, error) {
	name := d.cluster.Labels[utils.RayOriginatedFromCRNameLabelKey]
	var pods corev1.PodList
	err := d.client.List(ctx, &pods, client.InNamespace(d.cluster.Namespace), client.MatchingLabels{"job-name": name})
	if err != nil {
		return nil, fmt.Errorf("cannot list the pods of Job %s: %w", name, err)
	}
	var newest *corev1.Pod
	for index := range pods.Items {
		pod := &pods.Items[index]
		if newest == nil || newest.CreationTimestamp.Before(&pod.CreationTimestamp) {
			newest = pod
		}
	}
	return newest, nil
}

// isWhole says whether all pods of the cluster are those that were there when the job was submitted.
func (d *dashboard) isWhole(ctx context.Context, submitter *corev1.Pod) (bool, error) {
	var pods corev1.PodList
	labels := client.MatchingLabels{utils.RayClusterLabelKey: d.cluster.Name}
	if err := d.client.List(ctx, &pods, client.InNamespace(d.cluster.Namespace), labels); err != nil {
		return false, fmt.Errorf("cannot list the pods of RayCluster %s: %w", d.cluster.Name, err)
	}
	there := int32(0)
	for _, pod := range pods.Items {
		if pod.Labels[utils.RayNodeTypeLabelKey] == "" {
			continue
		}
		early := !submitter.CreationTimestamp.Before(&pod.CreationTimestamp)
		if early && pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
			there++
		}
	}
	return there > d.cluster.Status.DesiredWorkerReplicas, nil
}

func (d *dashboard) end(ctx context.Context, submitter *corev1.Pod) error {
	change, err := json.Marshal(dies)
	if err != nil {
		return err
	}
	return d.client.Patch(ctx, submitter.DeepCopy(), client.RawPatch("application/merge-patch+json", change))
}
