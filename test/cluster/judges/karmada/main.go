// Says what Karmada thinks of Kubernetes objects. Reads from stdin, and answers to stdout:
//
//   - {"objects": [...], "customizations": [...]}: the health of each object by Karmada's own rules, and by the customizations.
//   - {"template": {...}, "members": [...], "customizations": [...]}: the template with the status that the customizations
//     aggregate from its copies in member clusters.
//
// `karmadactl interpret` calls the same interpreter.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/customized/declarative"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/default/native"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/default/thirdparty"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"
)

func word(healthy, enabled bool, err error) string {
	switch {
	case err != nil:
		return "error"
	case !enabled:
		// Karmada calls every such object healthy.
		return "none"
	case healthy:
		return "Healthy"
	default:
		return "Unhealthy"
	}
}

func builtIn(object *unstructured.Unstructured) string {
	if healthy, enabled, err := thirdparty.NewConfigurableInterpreter().InterpretHealth(object); enabled || err != nil {
		return word(healthy, enabled, err)
	}
	rules := native.NewDefaultInterpreter()
	if !rules.HookEnabled(object.GroupVersionKind(), configv1alpha1.InterpreterOperationInterpretHealth) {
		return word(false, false, nil)
	}
	healthy, err := rules.InterpretHealth(object)
	return word(healthy, true, err)
}

func aggregate(rules *declarative.ConfigurableInterpreter, template *unstructured.Unstructured, members []*unstructured.Unstructured) (*unstructured.Unstructured, error) {
	items := []workv1alpha2.AggregatedStatusItem{}
	for index, member := range members {
		status, enabled, err := rules.ReflectStatus(member)
		if err != nil || !enabled {
			return nil, fmt.Errorf("reflecting the status of %s, enabled %t: %w", member.GetName(), enabled, err)
		}
		items = append(items, workv1alpha2.AggregatedStatusItem{ClusterName: fmt.Sprintf("member%d", index+1), Status: status, Applied: true})
	}
	aggregated, enabled, err := rules.AggregateStatus(template, items)
	if err != nil || !enabled {
		return nil, fmt.Errorf("aggregating, enabled %t: %w", enabled, err)
	}
	return aggregated, nil
}

func main() {
	log.SetFlags(0)
	// A script that fails is an answer, and nothing to log.
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	if err := flags.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL", "-alsologtostderr=false"}); err != nil {
		log.Fatal(err)
	}
	klog.SetOutput(os.Stderr)
	var input struct {
		Objects        []*unstructured.Unstructured                       `json:"objects"`
		Template       *unstructured.Unstructured                         `json:"template"`
		Members        []*unstructured.Unstructured                       `json:"members"`
		Customizations []*configv1alpha1.ResourceInterpreterCustomization `json:"customizations"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		log.Fatal(err)
	}
	rules := declarative.NewConfigurableInterpreter(nil)
	rules.LoadConfig(input.Customizations)
	var answer any
	if input.Template != nil {
		aggregated, err := aggregate(rules, input.Template, input.Members)
		if err != nil {
			log.Fatal(err)
		}
		answer = aggregated
	} else {
		verdicts := []map[string]string{}
		for _, object := range input.Objects {
			verdicts = append(verdicts, map[string]string{
				"karmada":        builtIn(object),
				"karmadaShipped": word(rules.InterpretHealth(object)),
			})
		}
		answer = verdicts
	}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		log.Fatal(err)
	}
}
