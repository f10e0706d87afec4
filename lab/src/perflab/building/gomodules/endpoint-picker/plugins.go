package main

import (
	"encoding/json"
	"fmt"

	"github.com/llm-d/llm-d-inference-scheduler/pkg/plugins/filter"
	prerequest "github.com/llm-d/llm-d-inference-scheduler/pkg/plugins/pre-request"
	llmdprofile "github.com/llm-d/llm-d-inference-scheduler/pkg/plugins/profile"
	llmdscorer "github.com/llm-d/llm-d-inference-scheduler/pkg/plugins/scorer"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/config/loader"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/datalayer"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/flowcontrol"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/plugins"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/scheduling/framework/plugins/multi/prefix"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/scheduling/framework/plugins/picker"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/scheduling/framework/plugins/profile"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/scheduling/framework/plugins/scorer"
)

// registerPlugins registers the plugins that upstream's two repositories register, except for those of their tests.
func registerPlugins() {
	loader.RegisterFeatureGate(datalayer.FeatureGate)
	loader.RegisterFeatureGate(flowcontrol.FeatureGate)

	plugins.Register(prefix.PrefixCachePluginType, prefix.PrefixCachePluginFactory)
	plugins.Register(picker.MaxScorePickerType, picker.MaxScorePickerFactory)
	plugins.Register(picker.RandomPickerType, picker.RandomPickerFactory)
	plugins.Register(picker.WeightedRandomPickerType, picker.WeightedRandomPickerFactory)
	plugins.Register(profile.SingleProfileHandlerType, profile.SingleProfileHandlerFactory)
	plugins.Register(scorer.KvCacheUtilizationScorerType, scorer.KvCacheUtilizationScorerFactory)
	plugins.Register(scorer.QueueScorerType, scorer.QueueScorerFactory)
	plugins.Register(scorer.LoraAffinityScorerType, scorer.LoraAffinityScorerFactory)

	plugins.Register(filter.ByLabelType, filter.ByLabelFactory)
	plugins.Register(filter.ByLabelSelectorType, filter.ByLabelSelectorFactory)
	plugins.Register(filter.DecodeRoleType, filter.DecodeRoleFactory)
	plugins.Register(filter.PrefillRoleType, filter.PrefillRoleFactory)
	plugins.Register(prerequest.PrefillHeaderHandlerType, prerequest.PrefillHeaderHandlerFactory)
	plugins.Register(llmdprofile.DataParallelProfileHandlerType, llmdprofile.DataParallelProfileHandlerFactory)
	plugins.Register(llmdprofile.PdProfileHandlerType, llmdprofile.PdProfileHandlerFactory)
	plugins.Register(llmdscorer.LoadAwareType, llmdscorer.LoadAwareFactory)
	plugins.Register(llmdscorer.SessionAffinityType, llmdscorer.SessionAffinityFactory)
	plugins.Register(llmdscorer.ActiveRequestType, llmdscorer.ActiveRequestFactory)
	plugins.Register(llmdscorer.NoHitLRUType, llmdscorer.NoHitLRUFactory)
	plugins.Register("precise-prefix-cache-scorer", leftOut)
}

// leftOut refuses a plugin that this program does not contain.
func leftOut(name string, _ json.RawMessage, _ plugins.Handle) (plugins.Plugin, error) {
	return nil, fmt.Errorf("the lab's endpoint picker has no %s, which needs tokenizers and ZeroMQ in C", name)
}
