// Writes the CRDs of the code to deploy/crds/, one file each: npm run generate

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { CustomResourceDefinition } from 'kubernetes-types/apiextensions/v1.d.ts';
import { stringify } from 'yaml';
import { advancedDaemonSetCrd } from '../src/advanced/api/crd.ts';
import { daemonRolloutCrd } from '../src/rollout/api/crd.ts';

const FOLDER = path.join(import.meta.dirname, '..', 'deploy', 'crds');

/** What is read of a definition here: some fields that it says are not in Kubernetes' own types. */
type Crd = { spec: Pick<CustomResourceDefinition['spec'], 'group' | 'names'> };

const render = (crd: Crd): string =>
  `# Written by scripts/write-crds.ts from src/: change it there.\n${stringify(crd, { lineWidth: 120 })}`;

/** The files that belong in deploy/crds/, by their absolute path. */
export const crdFiles = (): Map<string, string> =>
  new Map(
    [daemonRolloutCrd, advancedDaemonSetCrd].map((crd) => [
      path.join(FOLDER, `${crd.spec.group}_${crd.spec.names.plural}.yaml`),
      render(crd),
    ]),
  );

if (import.meta.main) {
  mkdirSync(FOLDER, { recursive: true });
  for (const [file, content] of crdFiles()) writeFileSync(file, content);
}
