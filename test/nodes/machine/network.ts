import { eventually } from '../../support/index.ts';
import { command } from './command.ts';

const BRIDGE = 'edgeset0';
/** Of this side of the bridge, where the API server and the registry listen. */
export const gateway = '10.77.0.1';

export const addressOf = (index: number): string => `10.77.0.${10 + index}`;
export const podCidrOf = (index: number): string => `10.78.${index}.0/24`;

const ip = (text: string): Promise<string> => command('ip', ...text.split(' '));

/** Makes the bridge that the nodes are connected to, in the network namespace of this process. */
export const createBridge = async (): Promise<void> => {
  await ip('link set lo up');
  await ip(`link add ${BRIDGE} type bridge forward_delay 0`);
  await ip(`address add ${gateway}/24 dev ${BRIDGE}`);
  await ip(`link set ${BRIDGE} up`);
  // Pods of different nodes reach each other through here.
  await command('sysctl', '-qw', 'net.ipv4.ip_forward=1');
};

export interface Link {
  /** Connects a network namespace, given by one of its processes. */
  connect(pid: number): Promise<void>;
  /** Everything is lost silently, as on a mobile link without coverage. Survives a reboot of the node. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  /** What the node receives, in kbit/s. Survives a reboot, too. */
  limit(kilobits: number | undefined): Promise<void>;
}

/** The cable of the node with this index. */
export const createLink = (name: string, index: number): Link => {
  let isCut = false;
  let limit: number | undefined;
  let connected = false;
  // A disabled port of a bridge drops everything; a link that is down would be an error that clients see at once.
  const applyCut = () => command('bridge', 'link', 'set', 'dev', name, 'state', isCut ? '0' : '3');
  const applyLimit = async (): Promise<void> => {
    await command('tc', 'qdisc', 'del', 'dev', name, 'root').catch(() => undefined);
    if (limit !== undefined)
      await command('tc', ...`qdisc add dev ${name} root tbf rate ${limit}kbit burst 16kb latency 400ms`.split(' '));
  };
  return {
    async connect(pid) {
      // The kernel may still be taking down the network of before the reboot.
      await ip(`link delete ${name}`).catch(() => undefined);
      await ip(`link add ${name} type veth peer name eth0 netns ${pid}`);
      await ip(`link set ${name} master ${BRIDGE} up`);
      if (!connected) await ip(`route add ${podCidrOf(index)} via ${addressOf(index)}`);
      connected = true;
      // The bridge enables a port whose other end comes up, and refuses to enable one whose other end is down.
      await eventually(`the other end of ${name} is up`, async () =>
        (await ip(`link show ${name}`)).includes('LOWER_UP'),
      );
      if (isCut) await applyCut();
      await applyLimit();
    },
    async cut() {
      isCut = true;
      await applyCut();
    },
    async restore() {
      isCut = false;
      await applyCut();
    },
    async limit(kilobits) {
      limit = kilobits;
      await applyLimit();
    },
  };
};
