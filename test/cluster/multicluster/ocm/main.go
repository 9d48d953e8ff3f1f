// Open Cluster Management's programs in one: its work manager and placement controller, which run on a hub, its work agent, and
// the agent's condition rules by themselves.
package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/openshift/library-go/pkg/controller/controllercmd"
	"github.com/spf13/cobra"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/component-base/cli"
	"k8s.io/utils/clock"
	"open-cluster-management.io/api/feature"
	work "open-cluster-management.io/api/work/v1"
	"open-cluster-management.io/ocm/pkg/common/options"
	"open-cluster-management.io/ocm/pkg/features"
	placement "open-cluster-management.io/ocm/pkg/placement/controllers"
	"open-cluster-management.io/ocm/pkg/version"
	"open-cluster-management.io/ocm/pkg/work/hub"
	"open-cluster-management.io/ocm/pkg/work/spoke"
	"open-cluster-management.io/ocm/pkg/work/spoke/conditions"
)

// As OCM's own main packages build them, each with the flags of its program.
func command(use string, start controllercmd.StartFunc, common *options.Options) *cobra.Command {
	config := common.NewControllerCommandConfig(use, version.Get(), start, clock.RealClock{})
	command := config.NewCommandWithContext(context.Background())
	command.Use = use
	return command
}

// What the work agent says of objects by condition rules. Reads {"objects": [...], "rules": [...]} from stdin, and writes the
// conditions of each object.
func conditionsOf(command *cobra.Command, _ []string) error {
	var input struct {
		Objects []*unstructured.Unstructured `json:"objects"`
		Rules   []work.ConditionRule         `json:"rules"`
	}
	if err := json.NewDecoder(command.InOrStdin()).Decode(&input); err != nil {
		return err
	}
	reader, err := conditions.NewConditionReader()
	if err != nil {
		return err
	}
	all := [][]meta.Condition{}
	for _, object := range input.Objects {
		all = append(all, reader.EvaluateConditions(command.Context(), object, input.Rules))
	}
	return json.NewEncoder(command.OutOrStdout()).Encode(all)
}

func main() {
	utilruntime.Must(features.HubMutableFeatureGate.Add(feature.DefaultHubWorkFeatureGates))
	utilruntime.Must(features.SpokeMutableFeatureGate.Add(feature.DefaultSpokeWorkFeatureGates))

	managerOptions, manager := options.NewOptions(), hub.NewWorkHubManagerOptions()
	workManager := command("work-manager", hub.NewWorkHubManagerConfig(manager).RunWorkHubManager, managerOptions)
	managerOptions.AddFlags(workManager.Flags())
	manager.AddFlags(workManager.Flags())
	features.HubMutableFeatureGate.AddFlag(workManager.Flags())

	placementOptions := options.NewOptions()
	placementController := command("placement", placement.RunControllerManager, placementOptions)
	placementOptions.AddFlags(placementController.Flags())

	agentOptions, agent := options.NewAgentOptions(), spoke.NewWorkloadAgentOptions()
	workAgent := command("work-agent", spoke.NewWorkAgentConfig(agentOptions, agent).RunWorkloadAgent, agentOptions.CommonOpts)
	agentOptions.AddFlags(workAgent.Flags())
	agent.AddFlags(workAgent.Flags())
	features.SpokeMutableFeatureGate.AddFlag(workAgent.Flags())

	root := &cobra.Command{Use: "ocm"}
	root.AddCommand(workManager, placementController, workAgent, &cobra.Command{Use: "conditions", RunE: conditionsOf})
	os.Exit(cli.Run(root))
}
