// Loads the mutant named by EDGESET_MUTANT. To be imported before everything else, as by `node --import`.

import { mutants } from './index.ts';
import { loadWith } from './load-mutant.ts';

const name = process.env.EDGESET_MUTANT;
const mutant = mutants.find((each) => each.name === name);
if (!mutant) throw new Error(`EDGESET_MUTANT names no mutant: ${name}`);
loadWith(mutant);
