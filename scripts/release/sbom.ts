// What is in the executables, as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/).

import manifest from '../../package.json' with { type: 'json' };
import { nodePart, npmPart } from '../images/sbom.ts';
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
  const subject = `pkg:npm/${manifest.name}@${manifest.version}`;
  const parts = [nodePart(node.version), ...packages.map(npmPart)];
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': subject,
        name: PLUGIN,
        version: manifest.version,
        description: manifest.description,
        licenses: [{ expression: manifest.license }],
        externalReferences: [{ type: 'vcs', url: manifest.repository.url, comment: revision }],
      },
    },
    components: parts,
    dependencies: [{ ref: subject, dependsOn: parts.map((part) => part['bom-ref']) }],
  };
  return `${JSON.stringify(bom, undefined, 2)}\n`;
};
