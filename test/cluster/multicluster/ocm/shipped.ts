import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../../../deploy/multicluster/ocm');

/** The text of a file of deploy/multicluster/ocm. */
export const shipped = (file: string): Promise<string> => readFile(join(folder, file), 'utf8');
