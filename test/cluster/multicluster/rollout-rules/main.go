// Says what Open Cluster Management decides. Reads {"rollouts": [...], "works": [...]} from stdin, and writes the answer of
// its RolloutHandler to each rollout, and the status that the work controller derives from the conditions of each
// ManifestWork.
package main

import (
	"encoding/json"
	"log"
	"os"
	"time"
	_ "unsafe" // for go:linkname

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	testingclock "k8s.io/utils/clock/testing"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	_ "open-cluster-management.io/ocm/pkg/work/hub/controllers/manifestworkreplicasetcontroller"
	rollout "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1"
	placement "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"
)

// The mapping is a method of an unexported type, whose fields it does not use.
//
//go:linkname statusOf open-cluster-management.io/ocm/pkg/work/hub/controllers/manifestworkreplicasetcontroller.(*deployReconciler).clusterRolloutStatusFunc
func statusOf(reconciler *struct{}, cluster string, work workv1.ManifestWork) (rollout.ClusterRolloutStatus, error)

var names = map[rollout.RolloutStatus]string{
	rollout.ToApply:     "ToApply",
	rollout.Progressing: "Progressing",
	rollout.Succeeded:   "Succeeded",
	rollout.Failed:      "Failed",
	rollout.TimeOut:     "TimeOut",
	rollout.Skip:        "Skip",
}

// Times are milliseconds since the epoch.
type status struct {
	Cluster string `json:"cluster"`
	Status  string `json:"status"`
	Since   *int64 `json:"since,omitempty"`
}

type question struct {
	Now      int64                           `json:"now"`
	Strategy clusterv1alpha1.RolloutStrategy `json:"strategy"`
	// Names of clusters, by the index of their decision group.
	Groups   [][]string `json:"groups"`
	Statuses []status   `json:"statuses"`
}

type answer struct {
	Rollout []status `json:"rollout"`
	TimeOut []status `json:"timeOut"`
	Removed []status `json:"removed"`
	Breach  bool     `json:"breach"`
	// Milliseconds.
	RecheckAfter *int64 `json:"recheckAfter,omitempty"`
}

func told(statuses []rollout.ClusterRolloutStatus) []status {
	list := []status{}
	for _, each := range statuses {
		row := status{Cluster: each.ClusterName, Status: names[each.Status]}
		if each.LastTransitionTime != nil {
			since := each.LastTransitionTime.UnixMilli()
			row.Since = &since
		}
		list = append(list, row)
	}
	return list
}

func read(statuses []status) []rollout.ClusterRolloutStatus {
	var list []rollout.ClusterRolloutStatus
	for _, each := range statuses {
		row := rollout.ClusterRolloutStatus{ClusterName: each.Cluster}
		for status, name := range names {
			if name == each.Status {
				row.Status = status
			}
		}
		if each.Since != nil {
			row.LastTransitionTime = &metav1.Time{Time: time.UnixMilli(*each.Since)}
		}
		list = append(list, row)
	}
	return list
}

func decide(asked question) (answer, error) {
	rollout.RolloutClock = testingclock.NewFakeClock(time.UnixMilli(asked.Now))
	groups := placement.ClusterGroupsMap{}
	for index, clusters := range asked.Groups {
		groups[placement.GroupKey{GroupIndex: int32(index)}] = sets.New(clusters...)
	}
	tracker := placement.NewPlacementDecisionClustersTrackerWithGroups(nil, nil, groups)
	handler, err := rollout.NewRolloutHandler[workv1.ManifestWork](tracker, nil)
	if err != nil {
		return answer{}, err
	}
	_, result, err := handler.GetRolloutCluster(asked.Strategy, read(asked.Statuses))
	if err != nil {
		return answer{}, err
	}
	said := answer{
		Rollout: told(result.ClustersToRollout),
		TimeOut: told(result.ClustersTimeOut),
		Removed: told(result.ClustersRemoved),
		Breach:  result.MaxFailureBreach,
	}
	if result.RecheckAfter != nil {
		ms := result.RecheckAfter.Milliseconds()
		said.RecheckAfter = &ms
	}
	return said, nil
}

func main() {
	log.SetFlags(0)
	var input struct {
		Rollouts []question            `json:"rollouts"`
		Works    []workv1.ManifestWork `json:"works"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		log.Fatal(err)
	}
	output := struct {
		Rollouts []answer `json:"rollouts"`
		Works    []status `json:"works"`
	}{Rollouts: []answer{}, Works: []status{}}
	for _, asked := range input.Rollouts {
		said, err := decide(asked)
		if err != nil {
			log.Fatal(err)
		}
		output.Rollouts = append(output.Rollouts, said)
	}
	for _, work := range input.Works {
		said, err := statusOf(nil, work.Namespace, work)
		if err != nil {
			log.Fatal(err)
		}
		output.Works = append(output.Works, told([]rollout.ClusterRolloutStatus{said})...)
	}
	if err := json.NewEncoder(os.Stdout).Encode(output); err != nil {
		log.Fatal(err)
	}
}
