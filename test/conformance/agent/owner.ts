import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Agent } from '../cluster.ts';
import { type Case, strategyKey } from '../kit/index.ts';
import type { Link } from '../link.ts';

export interface OwnersAnswer {
  status: number;
  text: string;
}

/** What the owner does at the device, with nothing but an HTTP client. */
export interface Owner {
  readonly agent: Agent;
  /** Names of the pods that the agent shows, and how old it says they are. */
  pods(): Promise<{ names: string[]; age: number }>;
  upgrade(pod: string, query?: string): Promise<OwnersAnswer>;
  /** Resolves when what the agent shows of this pod would survive a power cut: it writes a moment after a change. */
  onDisk(pod: string): Promise<void>;
  /** Ends the agent as a power cut does and starts it again, with what it has on its disk. */
  powerCut(link?: Link): Promise<void>;
}

const start = (c: Case, node: string, link: Link | undefined, stateDir?: string): Promise<Agent> =>
  c.cluster.startAgent({
    node,
    namespace: c.namespace,
    ...(link && { link }),
    ...(stateDir !== undefined && { stateDir }),
  });

/** Gives the case's first node an agent, and an owner who uses it; the agent ends with `work`. */
export const withOwner = async (
  c: Case,
  link: Link | undefined,
  work: (owner: Owner) => Promise<void>,
): Promise<void> => {
  const [node = ''] = c.nodes;
  let agent = await start(c, node, link);
  const answer = async (path: string, method: string): Promise<Response> => fetch(`${agent.url}${path}`, { method });
  try {
    await work({
      get agent() {
        return agent;
      },
      async pods() {
        const response = await answer('/pods', 'GET');
        const { items } = (await response.json()) as { items: { metadata: { name: string } }[] };
        const names = items.map(({ metadata }) => metadata.name).toSorted();
        return { names, age: Number(response.headers.get('x-edgeset-cache-age')) };
      },
      async upgrade(pod, query = '') {
        const path = `/openyurt.io/v1/namespaces/${c.namespace}/pods/${pod}/upgrade${query}`;
        const response = await answer(path, 'POST');
        return { status: response.status, text: await response.text() };
      },
      async onDisk(pod) {
        await c.until(`${pod} is on the disk`, async () => {
          const files = (await readdir(agent.stateDir, { withFileTypes: true })).filter((entry) => entry.isFile());
          const texts = files.map(({ name }) => readFile(join(agent.stateDir, name), 'utf8'));
          return (await Promise.all(texts)).some((text) => text.includes(pod));
        });
      },
      async powerCut(through) {
        agent.kill('SIGKILL');
        await agent.exit;
        agent = await start(c, node, through ?? link, agent.stateDir);
      },
    });
  } finally {
    await agent.stop();
  }
};

/** An OTA DaemonSet whose new image is announced on the case's first node; resolves with the pod there. */
export const announced = async (c: Case, image = 'app:v2'): Promise<string> => {
  await c.settled({ annotations: { [strategyKey]: 'ota' } });
  await c.setImage(image);
  return c.until('the update is announced', async () => {
    const { name, object } = await c.podOn(c.nodes[0]);
    const need = object.status?.conditions?.find(({ type }) => type === 'PodNeedUpgrade');
    return need?.status === 'True' && name;
  });
};
