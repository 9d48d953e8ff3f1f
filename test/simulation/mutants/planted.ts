// Plants the mutant that EDGESET_MUTANT names: to be imported before all else, as by `node --import`.

import { mutants } from './list.ts';
import { plant } from './plant.ts';

const name = process.env.EDGESET_MUTANT;
const mutant = mutants.find((each) => each.name === name);
if (!mutant) throw new Error(`EDGESET_MUTANT names no mutant: ${name}`);
plant(mutant);
