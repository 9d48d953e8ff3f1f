import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { defineResource, type KubeObject } from '../kube/index.ts';

// The objects of Argo Rollouts, as far as a check needs them; what it only passes on is unknown.
// https://argo-rollouts.readthedocs.io/en/stable/features/analysis/

interface NamedObject extends KubeObject {
  metadata?: ObjectMeta;
}

export interface AnalysisArgument {
  name: string;
  value?: string;
  valueFrom?: unknown;
}

export interface AnalysisMetric {
  name: string;
  interval?: string;
  count?: number | string;
}

export interface AnalysisSpec {
  metrics?: AnalysisMetric[];
  args?: AnalysisArgument[];
  dryRun?: unknown[];
  measurementRetention?: unknown[];
}

/** An AnalysisTemplate or a ClusterAnalysisTemplate. */
export interface AnalysisTemplate extends NamedObject {
  spec?: AnalysisSpec & { templates?: { templateName?: string; clusterScope?: boolean }[] };
}

export interface AnalysisRun extends NamedObject {
  spec?: AnalysisSpec;
  status?: {
    /** Pending, Running, Successful, Failed, Error or Inconclusive; empty before its controller has seen it. */
    phase?: string;
    message?: string;
    metricResults?: { name: string; phase?: string; message?: string }[];
  };
}

const argo = { group: 'argoproj.io', version: 'v1alpha1' };

export const analysisRuns = defineResource<AnalysisRun>({
  ...argo,
  plural: 'analysisruns',
  kind: 'AnalysisRun',
  namespaced: true,
});

export const analysisTemplates = defineResource<AnalysisTemplate>({
  ...argo,
  plural: 'analysistemplates',
  kind: 'AnalysisTemplate',
  namespaced: true,
});

export const clusterAnalysisTemplates = defineResource<AnalysisTemplate>({
  ...argo,
  plural: 'clusteranalysistemplates',
  kind: 'ClusterAnalysisTemplate',
  namespaced: false,
});
