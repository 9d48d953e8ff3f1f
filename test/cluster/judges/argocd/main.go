// Says what Argo CD thinks of Kubernetes objects. Reads {"objects": [...], "scripts": {"group_Kind": "..."}} from stdin, and
// writes the verdict of the rules in its code, of the health script that it bundles for the kind, and of the given one.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"time"

	"github.com/argoproj/argo-cd/v3/resource_customizations"
	"github.com/argoproj/gitops-engine/pkg/health"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
)

// Argo CD gives a health script the base and the table library, one second, and the object as the global `obj`.
type script string

func (source script) GetResourceHealth(object *unstructured.Unstructured) (*health.HealthStatus, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(ctx)
	text, err := json.Marshal(object.Object)
	if err != nil {
		return nil, err
	}
	value, err := luajson.Decode(state, text)
	if err != nil {
		return nil, err
	}
	state.SetGlobal("obj", value)
	if err := state.DoString(string(source)); err != nil {
		return nil, err
	}
	text, err = luajson.Encode(state.Get(-1))
	if err != nil {
		return nil, err
	}
	result := &health.HealthStatus{}
	return result, json.Unmarshal(text, result)
}

func verdict(object *unstructured.Unstructured, override health.HealthOverride) map[string]string {
	result, err := health.GetResourceHealth(object, override)
	switch {
	case err != nil:
		return map[string]string{"status": "error", "message": err.Error()}
	case result == nil:
		// Argo CD shows no health, and the application is Healthy.
		return map[string]string{"status": "none"}
	}
	return map[string]string{"status": string(result.Status), "message": result.Message}
}

func main() {
	log.SetFlags(0)
	var input struct {
		Objects []*unstructured.Unstructured `json:"objects"`
		Scripts map[string]script            `json:"scripts"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		log.Fatal(err)
	}
	rows := []map[string]map[string]string{}
	for _, object := range input.Objects {
		kind := object.GroupVersionKind()
		row := map[string]map[string]string{"builtIn": verdict(object, nil)}
		if source, err := resource_customizations.Embedded.ReadFile(kind.Group + "/" + kind.Kind + "/health.lua"); err == nil {
			row["bundled"] = verdict(object, script(source))
		}
		if source, ok := input.Scripts[kind.Group+"_"+kind.Kind]; ok {
			row["script"] = verdict(object, source)
		}
		rows = append(rows, row)
	}
	if err := json.NewEncoder(os.Stdout).Encode(rows); err != nil {
		log.Fatal(err)
	}
}
