import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { writtenAt } from '../rollout/index.ts';
import { ownKey } from '../words/index.ts';
import { type Reach, reaches } from './reach-of.ts';

/** The field manager of the label: when it wrote tells when a cluster came back. */
export const FIELD_MANAGER = 'edgeset-reach';

/** `unmanaged`: somebody gave the cluster a value of their own, which is left alone. */
export type PresentLabel = { reach: Reach; at: number | undefined } | 'unmanaged' | undefined;

export const readLabel = (metadata: ObjectMeta | undefined): PresentLabel => {
  const value = metadata?.labels?.[ownKey.reach];
  if (value === undefined) return undefined;
  const reach = reaches.find((each) => each === value);
  if (reach === undefined) return 'unmanaged';
  const path = ['metadata', 'labels', ownKey.reach];
  return { reach, at: writtenAt(metadata, { path, manager: FIELD_MANAGER }) };
};
