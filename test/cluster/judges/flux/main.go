// Says what Flux and Helm 4 think of Kubernetes objects. Reads {"objects": [...], "expressions": [...]} from stdin, and
// writes the verdict of kstatus and of the healthCheckExprs for each object.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func verdict(result *status.Result, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return result.Status.String()
}

func main() {
	log.SetFlags(0)
	var input struct {
		Objects     []*unstructured.Unstructured  `json:"objects"`
		Expressions []kustomize.CustomHealthCheck `json:"expressions"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		log.Fatal(err)
	}
	evaluators := map[schema.GroupKind]*cel.StatusEvaluator{}
	for _, check := range input.Expressions {
		evaluator, err := cel.NewStatusEvaluator(&check.HealthCheckExpressions)
		if err != nil {
			log.Fatalf("the expressions for %s: %v", check.Kind, err)
		}
		evaluators[schema.FromAPIVersionAndKind(check.APIVersion, check.Kind).GroupKind()] = evaluator
	}
	verdicts := []map[string]string{}
	for _, object := range input.Objects {
		row := map[string]string{"kstatus": verdict(status.Compute(object))}
		if evaluator := evaluators[object.GroupVersionKind().GroupKind()]; evaluator != nil {
			row["expressions"] = verdict(evaluator.Evaluate(context.Background(), object))
		}
		verdicts = append(verdicts, row)
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		log.Fatal(err)
	}
}
