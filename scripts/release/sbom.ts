// What is in the executables, as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/).

import manifest from '../../package.json' with { type: 'json' };
import { bomOf, nodePart, npmPart } from '../images/sbom.ts';
import type { BundledPackage } from '../notices.ts';
import { PLUGIN } from './executables.ts';

export interface ProgramSbomOptions {
  /** Of which the program holds code. */
  packages: readonly BundledPackage[];
  node: { version: string };
  /** The commit. */
  revision: string;
}

/** The same sources give the same text. */
export const programSbom = ({ packages, node, revision }: ProgramSbomOptions): string => {
  const subject = {
    type: 'application',
    'bom-ref': `pkg:npm/${manifest.name}@${manifest.version}`,
    name: PLUGIN,
    version: manifest.version,
    description: manifest.description,
    licenses: [{ expression: manifest.license }],
    externalReferences: [{ type: 'vcs', url: manifest.repository.url, comment: revision }],
  };
  const bom = bomOf(subject, [nodePart(node.version), ...packages.map(npmPart)]);
  return `${JSON.stringify(bom, undefined, 2)}\n`;
};
