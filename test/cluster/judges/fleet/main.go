// Says what Rancher Fleet thinks of Kubernetes objects and of a rollout over clusters. Reads from stdin, and answers to stdout:
//
//   - {"objects": [...]}: for each object whether a BundleDeployment with it is ready, by the summarizer of Fleet's agent.
//   - {"fleetYaml": "...", "version": "...", "clusters": [...]}: what one reconcile of the Bundle makes of the clusters'
//     BundleDeployments, by the code of Fleet's controller.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/rancher/fleet/internal/cmd/agent/deployer/summary"
	"github.com/rancher/fleet/internal/cmd/controller/target"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func verdict(object *unstructured.Unstructured) string {
	// As nonReady in internal/cmd/agent/deployer/monitor/updatestatus.go.
	result := summary.Summarize(object)
	switch {
	case result.IsReady():
		return "Ready"
	case result.Error:
		return "Error"
	default:
		return "Transitioning"
	}
}

type cluster struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
	// The version in the spec of its BundleDeployment; none without one.
	Wanted string `json:"wanted,omitempty"`
	// What its agent said last.
	Applied string `json:"applied,omitempty"`
	Ready   bool   `json:"ready"`
}

type partition struct {
	Name           string `json:"name"`
	Count          int    `json:"count"`
	MaxUnavailable int    `json:"maxUnavailable"`
	Unavailable    int    `json:"unavailable"`
}

type rollout struct {
	Clusters   []cluster   `json:"clusters"`
	Partitions []partition `json:"partitions"`
}

func reconcile(fleetYAML, version string, clusters []cluster) (rollout, error) {
	var read fleet.FleetYAML
	if err := yaml.UnmarshalStrict([]byte(fleetYAML), &read); err != nil {
		return rollout{}, err
	}
	bundle := &fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: "fleet-default"}, Spec: read.BundleSpec}
	targets := []*target.Target{}
	for _, of := range clusters {
		one := &target.Target{
			Bundle:       bundle,
			DeploymentID: version,
			Cluster: &fleet.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: of.Name, Namespace: "fleet-default", Labels: of.Labels},
				Status:     fleet.ClusterStatus{Namespace: "cluster-" + of.Name},
			},
		}
		if of.Wanted != "" {
			one.Deployment = &fleet.BundleDeployment{
				Spec:   fleet.BundleDeploymentSpec{DeploymentID: of.Wanted, StagedDeploymentID: of.Wanted},
				Status: fleet.BundleDeploymentStatus{AppliedDeploymentID: of.Applied, Ready: of.Ready, NonModified: true},
			}
		}
		targets = append(targets, one)
	}
	// As resetStatus in internal/cmd/controller/reconciler/bundle_status.go.
	status := &fleet.BundleStatus{MaxNew: 50, Summary: target.Summary(targets), Unavailable: target.Unavailable(targets)}
	var err error
	if status.MaxUnavailable, err = target.MaxUnavailable(targets); err != nil {
		return rollout{}, err
	}
	if err := target.UpdatePartitions(status, targets); err != nil {
		return rollout{}, err
	}
	result := rollout{Clusters: []cluster{}, Partitions: []partition{}}
	for index, one := range targets {
		after := clusters[index]
		if one.Deployment != nil {
			after.Wanted = one.Deployment.Spec.DeploymentID
		}
		result.Clusters = append(result.Clusters, after)
	}
	for _, one := range status.PartitionStatus {
		result.Partitions = append(result.Partitions, partition{one.Name, one.Count, one.MaxUnavailable, one.Unavailable})
	}
	return result, nil
}

func main() {
	log.SetFlags(0)
	var input struct {
		Objects   []*unstructured.Unstructured `json:"objects"`
		FleetYAML string                       `json:"fleetYaml"`
		Version   string                       `json:"version"`
		Clusters  []cluster                    `json:"clusters"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		log.Fatal(err)
	}
	var answer any
	if input.FleetYAML != "" {
		result, err := reconcile(input.FleetYAML, input.Version, input.Clusters)
		if err != nil {
			log.Fatal(err)
		}
		answer = result
	} else {
		verdicts := []map[string]string{}
		for _, object := range input.Objects {
			verdicts = append(verdicts, map[string]string{"fleet": verdict(object)})
		}
		answer = verdicts
	}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		log.Fatal(err)
	}
}
