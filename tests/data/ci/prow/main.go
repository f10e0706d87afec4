// Prints the environments that Prow gives to jobs of each kind, made by Prow's own types:
//
//	go run . > ../prow.json
package main

import (
	"encoding/json"
	"fmt"
	"os"

	prowapi "sigs.k8s.io/prow/pkg/apis/prowjobs/v1"
	"sigs.k8s.io/prow/pkg/pod-utils/downwardapi"
	"sigs.k8s.io/prow/pkg/pod-utils/gcs"
)

const (
	org  = "openshift-psap"
	repo = "psap-perf"
)

type job struct {
	Environment map[string]string `json:"environment"`
	// where Prow uploads the artifacts, below the bucket
	Path string `json:"path"`
}

func refs(org, repo string, pulls ...prowapi.Pull) *prowapi.Refs {
	return &prowapi.Refs{
		Org:     org,
		Repo:    repo,
		BaseRef: "main",
		BaseSHA: "1d2c8f0a5b4e93d76f1a2b3c4d5e6f708192a3b4",
		Pulls:   pulls,
	}
}

func pull(org, repo string, number int, author string) prowapi.Pull {
	return prowapi.Pull{
		Number:  number,
		Author:  author,
		SHA:     "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
		Title:   "Measure more workloads",
		HeadRef: "more-workloads",
		Link:    fmt.Sprintf("https://github.com/%s/%s/pull/%d", org, repo, number),
	}
}

func spec(kind prowapi.ProwJobType, name string, refs *prowapi.Refs, extra ...prowapi.Refs) prowapi.ProwJobSpec {
	return prowapi.ProwJobSpec{
		Type:      kind,
		Agent:     prowapi.KubernetesAgent,
		Job:       name,
		Refs:      refs,
		ExtraRefs: extra,
		DecorationConfig: &prowapi.DecorationConfig{
			GCSConfiguration: &prowapi.GCSConfiguration{
				Bucket:       "test-platform-results",
				PathStrategy: prowapi.PathStrategySingle,
				DefaultOrg:   "openshift",
				DefaultRepo:  "origin",
			},
		},
	}
}

func main() {
	specs := map[string]prowapi.ProwJobSpec{
		"presubmit": spec(prowapi.PresubmitJob, "pull-ci-openshift-psap-psap-perf-main-scale-test",
			refs(org, repo, pull(org, repo, 123, "ada"))),
		"postsubmit": spec(prowapi.PostsubmitJob, "branch-ci-openshift-psap-psap-perf-main-scale-test", refs(org, repo)),
		"batch": spec(prowapi.BatchJob, "pull-ci-openshift-psap-psap-perf-main-scale-test",
			refs(org, repo, pull(org, repo, 123, "ada"), pull(org, repo, 124, "grace"))),
		"periodic": spec(prowapi.PeriodicJob, "periodic-ci-openshift-psap-psap-perf-main-scale-test-nightly", nil,
			*refs(org, repo)),
		"rehearsal": spec(prowapi.PresubmitJob, "rehearse-456-pull-ci-openshift-psap-psap-perf-main-scale-test",
			refs("openshift", "release", pull("openshift", "release", 456, "ada")), *refs(org, repo)),
	}
	jobs := map[string]job{}
	for kind, each := range specs {
		known := downwardapi.NewJobSpec(each, "1912345678901234567", "0b0a5c86-7f51-4d9a-9a44-0e3f6f6d1c11")
		environment, err := downwardapi.EnvForSpec(known)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		builder := gcs.NewSingleDefaultRepoPathBuilder("openshift", "origin")
		jobs[kind] = job{environment, gcs.PathForSpec(&known, builder)}
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(jobs); err != nil {
		os.Exit(1)
	}
}
