/** What can be found: of one kind, in its natural order. */
export interface Source {
  /** What is searched, in lower case. */
  texts: readonly string[];
}

/** A text of a source. */
export interface Found {
  source: number;
  index: number;
}

export interface Search {
  found: readonly Found[];
  /** How many texts match, those that are not among the found included. */
  all: number;
}

/** So that ten thousand nodes leave room for others. */
const LEAST_EACH = 8;

/**
 * The texts that have every word of the query: of each source those that begin with it first, and otherwise in their order. It looks
 * at each text once, since a fleet has ten thousand, and a reader types fast.
 */
export const find = (sources: readonly Source[], query: string, limit: number): Search => {
  const [first = '', ...others] = query.toLowerCase().split(/\s+/).filter(Boolean);
  const isMatch = (text: string): boolean => others.every((word) => text.includes(word));
  const bySource = sources.map(({ texts }) => {
    const begin: number[] = [];
    const inside: number[] = [];
    let all = 0;
    for (const [index, text] of texts.entries()) {
      const at = text.indexOf(first);
      if (at < 0 || (others.length > 0 && !isMatch(text))) continue;
      all += 1;
      const found = at === 0 ? begin : inside;
      if (found.length < limit) found.push(index);
    }
    return { all, best: [...begin, ...inside].slice(0, limit) };
  });
  const shares = bySource.map(({ best }) => Math.min(best.length, LEAST_EACH));
  let left = limit - shares.reduce((sum, share) => sum + share, 0);
  const found = bySource.flatMap(({ best }, source) => {
    const share = shares[source] ?? 0;
    const more = Math.max(0, Math.min(best.length - share, left));
    left -= more;
    return best.slice(0, share + more).map((index) => ({ source, index }));
  });
  return { found: found.slice(0, limit), all: bySource.reduce((sum, { all }) => sum + all, 0) };
};
