import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from '../../judge/audit/audit-record.ts';
import type { Agent } from '../cluster.ts';
import { type Case, type Shape, strategyKey } from '../kit/index.ts';
import type { Link } from '../link.ts';

export interface OwnersAnswer {
  status: number;
  text: string;
}

/** What is looked at in an update of `/edgeset.io/v1`. */
export interface ShownUpdate {
  state: string;
  reason: string;
  message: string;
  running: { revision: string; images: { image: string }[] };
  /** The images are read a moment after the revision is announced. */
  target: { revision: string; images: { image: string }[] | null; notes: string | null };
  image: { state: string };
  choices: { approve: boolean; postpone: boolean; reject: boolean };
  deadline: { actsAt: string } | null;
}

/** What the owner does at the device, with nothing but an HTTP client. */
export interface Owner {
  readonly agent: Agent;
  /** What the agent shows of its pods, and how old it says that is. */
  pods(): Promise<{ names: string[]; age: number; items: Pod[] }>;
  upgrade(pod: string, query?: string): Promise<OwnersAnswer>;
  pullImages(pod: string): Promise<OwnersAnswer>;
  /** Of the case's DaemonSet `app`. */
  update(): Promise<ShownUpdate>;
  /** Resolves when the update is shown in this state. */
  untilShown(state: string): Promise<ShownUpdate>;
  decide(body: Record<string, unknown>): Promise<OwnersAnswer>;
  /** Newest first, as `who what`. */
  history(): Promise<string[]>;
  /** Resolves when the history has this entry, `who what`: it comes a moment after what it tells of. */
  untilRecorded(entry: string): Promise<unknown>;
  /** What it serves to Prometheus; the agent needs `--metrics-bind-address`. */
  metrics(): Promise<string>;
  /** Resolves when what the agent shows of this pod would survive a power cut: it writes a moment after a change. */
  onDisk(pod: string): Promise<void>;
  /** Ends the agent as a power cut does and starts it again, with what it has on its disk, or what `change` makes of it. */
  powerCut(change?: (stateDir: string) => Promise<void>): Promise<void>;
}

export interface OwnerOptions {
  /** Default: the case's first. */
  node?: string | undefined;
  link?: Link;
  /** Further flags of the agent. */
  args?: readonly string[];
}

/** Gives a node an agent, and an owner who uses it; the agent ends with `work`. */
export const withOwner = async (
  c: Case,
  options: OwnerOptions,
  work: (owner: Owner) => Promise<void>,
): Promise<void> => {
  const { node = c.nodes[0] ?? '', link, args } = options;
  const start = (stateDir?: string): Promise<Agent> =>
    c.cluster.startAgent({
      node,
      namespace: c.namespace,
      ...(link && { link }),
      ...(args && { args }),
      ...(stateDir !== undefined && { stateDir }),
    });
  let agent = await start();
  const call = (path: string, init?: RequestInit): Promise<Response> => fetch(`${agent.url}${path}`, init);
  const post = async (path: string, init: RequestInit = {}): Promise<OwnersAnswer> => {
    const response = await call(path, { ...init, method: 'POST' });
    return { status: response.status, text: await response.text() };
  };
  const compatible = `/openyurt.io/v1/namespaces/${c.namespace}/pods`;
  const own = '/edgeset.io/v1';
  const owner: Owner = {
    get agent() {
      return agent;
    },
    async pods() {
      const response = await call('/pods');
      const { items } = (await response.json()) as { items: Pod[] };
      const names = items.map(({ metadata }) => metadata?.name ?? '').toSorted();
      return { names, age: Number(response.headers.get('x-edgeset-cache-age')), items };
    },
    upgrade: (pod, query = '') => post(`${compatible}/${pod}/upgrade${query}`),
    pullImages: (pod) => post(`${compatible}/${pod}/imagepull`),
    async update() {
      const response = await call(`${own}/updates/${c.namespace}/app`);
      if (!response.ok) throw new Error(await response.text());
      return (await response.json()) as ShownUpdate;
    },
    untilShown: (state) =>
      c.until(`the owner is shown ${state}`, async () => {
        const update = await owner.update();
        if (update.state === state) return update;
        throw new Error(`it is shown as ${JSON.stringify(update)}`);
      }),
    decide: (body) =>
      post(`${own}/updates/${c.namespace}/app/decision`, {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    async history() {
      const { items } = (await (await call(`${own}/history`)).json()) as { items: { who: string; what: string }[] };
      return items.map(({ who, what }) => `${who} ${what}`);
    },
    untilRecorded: (entry) => c.until(`its history says ${entry}`, async () => (await owner.history()).includes(entry)),
    metrics: () =>
      c.until('it serves metrics', async () => {
        const [, address] = /"serving metrics","address":"([^"]+)"/.exec(await agent.log()) ?? [];
        return address !== undefined && (await fetch(`http://${address}/metrics`)).text();
      }),
    async onDisk(pod) {
      await c.until(`${pod} is on the disk`, async () => {
        const files = (await readdir(agent.stateDir, { withFileTypes: true })).filter((entry) => entry.isFile());
        const texts = files.map(({ name }) => readFile(join(agent.stateDir, name), 'utf8'));
        return (await Promise.all(texts)).some((text) => text.includes(pod));
      });
    },
    async powerCut(change) {
      agent.kill('SIGKILL');
      await agent.exit;
      await change?.(agent.stateDir);
      agent = await start(agent.stateDir);
    },
  };
  try {
    await work(owner);
  } finally {
    await agent.stop();
  }
};

/** An OTA DaemonSet whose new image is announced on all nodes; resolves with the pod of the case's first node. */
export const announced = async (c: Case, image = 'app:v2', shape: Shape = {}): Promise<string> => {
  await c.startRollout(image, { ...shape, annotations: { [strategyKey]: 'ota', ...shape.annotations } });
  await c.until('the update is announced', async () =>
    (await c.pods()).every(({ object }) => conditionOf(object, 'PodNeedUpgrade')?.status === 'True'),
  );
  return (await c.podOn(c.nodes[0])).name;
};

export const conditionOf = (pod: Pod | undefined, type: string) =>
  pod?.status?.conditions?.find((condition) => condition.type === type);

/** Writes of agents in the case's namespace, from the audit log; without Events. */
export const writesOf = async (c: Case, { agent }: Owner): Promise<AuditRecord[]> =>
  (await c.cluster.audit.read()).filter(
    ({ user, namespace, verb, resource }) =>
      user === agent.user &&
      namespace === c.namespace &&
      resource !== 'events' &&
      !['get', 'list', 'watch'].includes(verb),
  );

export const said = ({ verb, resource, name, code }: AuditRecord): string => `${verb} ${resource} ${name}: ${code}`;
