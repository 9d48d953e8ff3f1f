import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { image, layer, type Registry } from '../containerd/index.ts';

/** Adds `pause:1`, which every pod needs, and a maker of versions of the app. */
export const createImages = async (registry: Registry, program: string) => {
  const binary = layer('app', await readFile(program));
  registry.add('pause', '1', image('pause', [binary], ['/app', 'pause']));
  return {
    /** Adds `registry.test/<name>`, such as `app:v1`, and returns that. A node pulls `ownBytes` for a new version. */
    add(name: string, ownBytes = 1000): string {
      const [repository = '', tag = ''] = name.split(':');
      const own = [layer('version', Buffer.from(`${tag}\n`)), layer('weight', randomBytes(ownBytes))];
      registry.add(repository, tag, image(name, [binary, ...own]));
      return `registry.test/${name}`;
    },
  };
};
