import { stringify } from 'yaml';
import { daemonRolloutCrd } from '../rollout/index.ts';

const crds = [daemonRolloutCrd] as const;

/** All custom resource definitions as one YAML stream, in the form of the files in deploy/crds. */
export const renderCrds = (): string => crds.map((crd) => stringify(crd, { lineWidth: 120 })).join('---\n');
