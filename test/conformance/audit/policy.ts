import type { AuditRecord } from './audit-record.ts';

type Share = number | `${number}%`;

/** What the spec of an Advanced DaemonSet asks for, as far as acts are held against it. */
export interface SpecPolicy {
  /** In force from then on, by the server's clock. */
  since: number;
  maxUnavailable: Share;
  maxSurge: Share;
  partition: Share;
  paused: boolean;
  manual: boolean;
  /** The owner of each pod agrees first. */
  owners: boolean;
}

interface Spec {
  updateStrategy?: {
    type?: string;
    rollingUpdate?: {
      rollingUpdateType?: string;
      maxUnavailable?: Share;
      maxSurge?: Share;
      partition?: Share;
      paused?: boolean;
    };
  };
}

export const readSpecPolicy = ({ answeredAt, response }: AuditRecord): SpecPolicy => {
  const { spec, metadata } = response as { spec?: Spec; metadata?: { annotations?: Record<string, string> } };
  const { type, rollingUpdate = {} } = spec?.updateStrategy ?? {};
  const { rollingUpdateType, maxUnavailable, maxSurge, partition = 0, paused = false } = rollingUpdate;
  const surging = rollingUpdateType === 'Surging';
  const owners = metadata?.annotations?.['apps.openyurt.io/update-strategy'] === 'ota';
  return {
    since: answeredAt,
    maxUnavailable: maxUnavailable ?? (surging || maxSurge !== undefined ? 0 : 1),
    maxSurge: maxSurge ?? (surging ? 1 : 0),
    partition,
    paused,
    manual: type === 'OnDelete' && !owners,
    owners,
  };
};

/** How many of so many nodes a share is. */
export const sizeOf = (share: Share, nodes: number, round: 'up' | 'down'): number => {
  if (typeof share === 'number') return share;
  const percent = Number(share.slice(0, -1));
  if (round === 'down') return Math.floor((percent * nodes) / 100);
  return percent === 0 ? 0 : Math.max(1, Math.ceil((percent * nodes) / 100));
};
