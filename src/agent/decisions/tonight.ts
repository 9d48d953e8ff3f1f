import { windowsAt } from '../../rollout/index.ts';
import type { Update } from '../types.ts';
import { actsAt } from './deadline.ts';
import type { Deadline } from './types.ts';

/** When shops are closed and vehicles are parked. */
const NIGHT = { from: '02:00', to: '05:00' } as const;

/** `deadline`: by this device's clock. */
export interface TonightFacts {
  now: number;
  timeZone: string;
  deadline: Deadline | undefined;
}

/** The night that an owner can choose; null if the deadline updates this device before it begins. */
export const tonightOf = ({ now, timeZone, deadline }: TonightFacts): Update['choices']['tonight'] => {
  const night = windowsAt([{ ...NIGHT, timeZone }], now);
  const opensAt = night.open ? now : night.opensAt;
  return deadline && actsAt(deadline) < opensAt ? null : NIGHT;
};
