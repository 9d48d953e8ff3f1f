const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Spaces out what is tried again on a node without a clear answer: 1 s, doubling to 30 s. */
export const createPacing = () => {
  const waits = new Map<string, { until: number; nextMs: number }>();
  return {
    /** When the node may be tried again; 0 for at once. */
    until: (node: string): number => waits.get(node)?.until ?? 0,
    failed(node: string, now: number): void {
      const nextMs = waits.get(node)?.nextMs ?? FIRST_MS;
      waits.set(node, { until: now + nextMs, nextMs: Math.min(LONGEST_MS, nextMs * 2) });
    },
    succeeded(node: string): void {
      waits.delete(node);
    },
  };
};
