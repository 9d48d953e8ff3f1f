import type { Manager } from '../../test/conformance/index.ts';
import { eventually } from '../../test/support/index.ts';

/** To be called before the manager is started: its own flags keep the inspector closed. Several may run on one machine. */
export const allowInspection = (): void => {
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --inspect=127.0.0.1:0`;
};

/** Sends one command after the other; resolves with the last one's result. */
const command = (url: string, methods: readonly string[]): Promise<Record<string, unknown>> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    const send = (index: number): void => socket.send(JSON.stringify({ id: index, method: methods[index] }));
    socket.addEventListener('open', () => send(0));
    socket.addEventListener('error', () => reject(new Error(`the inspector at ${url} does not answer`)));
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown> };
      if (id === undefined) return;
      if (id + 1 < methods.length) send(id + 1);
      else {
        socket.close();
        resolve(result ?? {});
      }
    });
  });

/** Bytes of live objects in the manager's process, after collections that its inspector is asked for. */
export const managerHeap = async (manager: Manager): Promise<number> => {
  const url = await eventually(
    'the inspector listens',
    async () => {
      const found = /Debugger listening on (ws:\S+)/.exec(await manager.log());
      return found?.[1];
    },
    { withinMs: 10_000, everyMs: 50 },
  );
  const collect = 'HeapProfiler.collectGarbage';
  const { usedSize } = await command(url, [collect, collect, collect, 'Runtime.getHeapUsage']);
  return Number(usedSize);
};
