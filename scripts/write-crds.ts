// Writes the CRDs of the code to deploy/crds/ and to the chart, one file each: npm run generate

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { CustomResourceDefinition } from 'kubernetes-types/apiextensions/v1.d.ts';
import { stringify } from 'yaml';
import { advancedDaemonSetCrd } from '../src/kinds/advanced/api/crd.ts';
import { daemonRolloutCrd, planCrds } from '../src/words/index.ts';

const FOLDERS = ['deploy/crds', 'charts/edgeset/files/crds'].map((each) => path.join(import.meta.dirname, '..', each));

/** What is read of a definition here: some fields that it says are not in Kubernetes' own types. */
type Crd = { spec: Pick<CustomResourceDefinition['spec'], 'group' | 'names'> };

const render = (crd: Crd): string =>
  `# Written by scripts/write-crds.ts from src/: change it there.\n${stringify(crd, { lineWidth: 120 })}`;

/** The files, by their absolute path. */
export const crdFiles = (): Map<string, string> =>
  new Map(
    FOLDERS.flatMap((folder) =>
      [daemonRolloutCrd, ...planCrds, advancedDaemonSetCrd].map((crd) => [
        path.join(folder, `${crd.spec.group}_${crd.spec.names.plural}.yaml`),
        render(crd),
      ]),
    ),
  );

if (import.meta.main) for (const [file, content] of crdFiles()) writeFileSync(file, content);
