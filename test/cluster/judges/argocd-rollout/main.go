// Says what Argo CD makes of a rollout over clusters. Reads {"applicationSet": {...}, "clusters": [...]} from stdin, and writes what
// one reconcile of the ApplicationSet's RollingSync does, by the code of its controller.
package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"os"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	synccommon "github.com/argoproj/argo-cd/gitops-engine/pkg/sync/common"
	"github.com/argoproj/argo-cd/v3/applicationset/progressivesync"
	"github.com/argoproj/argo-cd/v3/applicationset/utils"
	argocd "github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/sirupsen/logrus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Keeps what the ApplicationSet controller would write to the API server.
type remembering struct{ set *argocd.ApplicationSet }

func (kept remembering) SetAppSetApplicationStatus(_ context.Context, _ *logrus.Entry, set *argocd.ApplicationSet, statuses []argocd.ApplicationSetApplicationStatus) error {
	set.Status.ApplicationStatus = statuses
	kept.set.Status.ApplicationStatus = statuses
	return nil
}

func (remembering) SetApplicationSetStatusCondition(context.Context, *argocd.ApplicationSet, argocd.ApplicationSetCondition, bool) error {
	return nil
}

type step struct {
	Statuses []argocd.ApplicationSetApplicationStatus `json:"statuses"`
	// The clusters to which a sync starts, with its retry limit.
	Synced map[string]int64 `json:"synced"`
}

// A cluster's Secret, and what Argo CD's application controller says of the Application for it.
type cluster struct {
	Name     string                  `json:"name"`
	Labels   map[string]string       `json:"labels"`
	Revision string                  `json:"revision"`
	Sync     argocd.SyncStatusCode   `json:"sync"`
	Health   health.HealthStatusCode `json:"health"`
	// A sync has run since its last status.
	Operated bool `json:"operated"`
}

// As the cluster generator with goTemplate, and the template.
func application(set *argocd.ApplicationSet, of cluster) (*argocd.Application, error) {
	template := &argocd.Application{
		ObjectMeta: metav1.ObjectMeta{Name: set.Spec.Template.Name, Namespace: set.Namespace, Labels: set.Spec.Template.Labels},
		Spec:       set.Spec.Template.Spec,
	}
	params := map[string]any{
		"name": of.Name, "nameNormalized": of.Name, "server": "https://" + of.Name, "project": "",
		"metadata": map[string]any{"labels": of.Labels},
	}
	result, err := (&utils.Render{}).RenderTemplateParams(template, nil, params, set.Spec.GoTemplate, set.Spec.GoTemplateOptions)
	if err != nil {
		return nil, err
	}
	result.Status.Sync = argocd.SyncStatus{Status: of.Sync, Revision: of.Revision}
	result.Status.Health.Status = of.Health
	if of.Operated {
		later := metav1.NewTime(time.Now().Add(time.Minute))
		result.Status.ReconciledAt = &later
		result.Status.OperationState = &argocd.OperationState{Phase: synccommon.OperationRunning, StartedAt: later}
	}
	return result, nil
}

// As the reconciler of ApplicationSets: statuses first, then the Applications that may start, then the syncs.
func rollingSync(set argocd.ApplicationSet, clusters []cluster) (step, error) {
	quiet := logrus.New()
	quiet.SetOutput(io.Discard)
	entry := logrus.NewEntry(quiet)
	applications := []argocd.Application{}
	names := map[string]string{}
	for _, of := range clusters {
		one, err := application(&set, of)
		if err != nil {
			return step{}, err
		}
		applications = append(applications, *one)
		names[one.Name] = of.Name
	}
	manager := progressivesync.NewManager(nil, nil, remembering{&set})
	mayStart, err := manager.PerformProgressiveSyncs(context.Background(), entry, set, applications, applications)
	if err != nil {
		return step{}, err
	}
	result := step{Statuses: set.Status.ApplicationStatus, Synced: map[string]int64{}}
	for _, one := range manager.SyncDesiredApplications(entry, &set, mayStart, applications) {
		if one.Operation != nil {
			result.Synced[names[one.Name]] = one.Operation.Retry.Limit
		}
	}
	return result, nil
}

func main() {
	log.SetFlags(0)
	var input struct {
		ApplicationSet argocd.ApplicationSet `json:"applicationSet"`
		Clusters       []cluster             `json:"clusters"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		log.Fatal(err)
	}
	result, err := rollingSync(input.ApplicationSet, input.Clusters)
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		log.Fatal(err)
	}
}
