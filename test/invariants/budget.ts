/** A number of nodes, or a percent of some nodes. */
export type Share = number | string;

/** A share in nodes. A budget rounds a percent up, and is at least 1 unless it is zero; a partition rounds down. */
export const nodesOf = (share: Share, total: number, round: 'up' | 'down' = 'up'): number => {
  const text = String(share);
  if (!text.endsWith('%')) return Number(text);
  const percent = Number(text.slice(0, -1));
  if (round === 'down') return Math.floor((percent * total) / 100);
  return percent === 0 ? 0 : Math.max(1, Math.ceil((percent * total) / 100));
};
