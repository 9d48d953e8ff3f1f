// Appends numbers to the journal in the directory that is named, one after the other, and says each one that was
// answered on stdout at once. Ends only by being killed.

import { writeSync } from 'node:fs';
import { openJournal } from '../journal.ts';
import { createRegister, testEnv } from './register.ts';

const [, , dir = '', first = '0'] = process.argv;
const state = createRegister();
const journal = await openJournal({ dir, name: 'register', env: testEnv, state, compactAtBytes: 300 });
for (let value = Number(first); ; value += 1) {
  await journal.append({ key: `k${value % 3}`, value });
  writeSync(1, `${value}\n`);
}
