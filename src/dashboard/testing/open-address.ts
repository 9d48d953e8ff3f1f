import type { KeyMessage } from '../messages.ts';

/** Opens an address of a dashboard on this machine, as a page does. Resolves with the headers that admit it from then on. */
export const openAddress = async (address: string): Promise<{ authorization: string }> => {
  const { origin, hash } = new URL(address);
  const [, code = ''] = /^#code=([\w-]+)/.exec(hash) ?? [];
  const response = await fetch(`${origin}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const { key } = (await response.json()) as KeyMessage;
  return { authorization: `Bearer ${key}` };
};
