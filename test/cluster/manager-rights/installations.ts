import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { chart, createHelm, release, root } from '../helm/helm.ts';
import { kubectl } from '../index.ts';

interface Installation {
  what: string;
  /** Are Advanced DaemonSets served? */
  advanced: boolean;
  /** The policies and permissions. */
  manifests: () => Promise<string>;
}

const KINDS = /^(ValidatingAdmissionPolicy(Binding)?|(Cluster)?Role(Binding)?|ServiceAccount)$/;

const rightsIn = (text: string): string =>
  parseAllDocuments(text)
    .filter((document) => KINDS.test(String(document.get('kind'))))
    .map(String)
    .join('---\n');

const withHelm = async (controllers: readonly string[]): Promise<string> => {
  const helm = await createHelm('');
  const values = ['--namespace', release.namespace, '--set', `controllers={${controllers.join()}}`];
  return rightsIn(await helm('template', release.name, chart, '--kube-version=1.34.0', ...values));
};

/** As the guide says: without the CRD and the component `advanced`. */
const withKustomize = async (advanced: boolean): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeset-deploy-'));
  try {
    cpSync(join(root, 'deploy'), folder, { recursive: true });
    const file = join(folder, 'kustomization.yaml');
    const text = readFileSync(file, 'utf8');
    const native = text.replace(/^ {2}- crds\/apps\.kruise.*\n/m, '').replace(/^components:\n {2}- advanced\n/m, '');
    if (!advanced) writeFileSync(file, native);
    return rightsIn(await kubectl('', ['kustomize', folder]));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

export const installations: readonly Installation[] = [
  { what: 'the chart for native DaemonSets', advanced: false, manifests: () => withHelm(['native']) },
  { what: 'kustomize for native DaemonSets', advanced: false, manifests: () => withKustomize(false) },
  { what: 'the chart for both kinds', advanced: true, manifests: () => withHelm(['native', 'advanced']) },
  { what: 'kustomize for both kinds', advanced: true, manifests: () => withKustomize(true) },
];
