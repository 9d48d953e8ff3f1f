// Builds the programs of the real control plane where they are missing, ahead of the tests that need them:
//   node test/cluster/controlplane/prepare.ts

import { findPrograms } from './build.ts';

console.log(Object.values(await findPrograms()).join('\n'));
