// The manifest for krew, the plugin manager of kubectl: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest

import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { archiveNameOf, PLUGIN, type Platform } from './executables.ts';

/** `git+https://host/owner/name.git` as the address of a page. */
export const repositoryUrl = manifest.repository.url.replace(/^git\+/, '').replace(/\.git$/, '');

export const PLUGIN_NAME = PLUGIN.replace('kubectl-', '');

/** `archives`: what was built for each platform. */
export const krewManifest = (archives: readonly (readonly [Platform, Buffer])[]): string =>
  stringify(
    {
      apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
      kind: 'Plugin',
      metadata: { name: PLUGIN_NAME },
      spec: {
        version: `v${manifest.version}`,
        homepage: repositoryUrl,
        shortDescription: 'Follow and steer DaemonSet rollouts at the edge',
        description: [
          'Shows the rollouts of DaemonSets that edgeset manages, tells why each node is or is not updated, and',
          "pauses, resumes and undoes them. Works with native DaemonSets (OpenYurt's Auto and OTA models) and with",
          'Advanced DaemonSets. "history" and "undo" work with every DaemonSet.',
          '',
        ].join('\n'),
        caveats: [
          'Rollouts need the manager of edgeset in the cluster:',
          `  ${repositoryUrl}/blob/v${manifest.version}/docs/how-to/install.md`,
          '',
          'For completion by Tab, put an executable file kubectl_complete-edgeset with these lines on your PATH:',
          '  #!/bin/sh',
          `  exec ${PLUGIN} __complete "$@" 2>/dev/null`,
          '',
        ].join('\n'),
        platforms: archives.map(([platform, archive]) => ({
          selector: { matchLabels: { os: platform.os, arch: platform.arch } },
          uri: `${repositoryUrl}/releases/download/v${manifest.version}/${archiveNameOf(platform)}`,
          sha256: createHash('sha256').update(archive).digest('hex'),
          files: [
            { from: PLUGIN, to: '.' },
            { from: 'LICENSE', to: '.' },
            { from: 'THIRD_PARTY_LICENSES', to: '.' },
          ],
          bin: PLUGIN,
        })),
      },
    },
    { lineWidth: 0 },
  );
