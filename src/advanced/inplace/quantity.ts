const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/**
 * A quantity as a number. The kubelet reports the same amount in other words than the spec: 64M of memory as 62500Ki.
 * NaN for what is none, which equals nothing.
 */
export const parseQuantity = (quantity: string | undefined): number => {
  const [, number = '', suffix = ''] = /^([+-]?[0-9.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(quantity ?? '') ?? [];
  const amount = number === '' ? Number.NaN : Number(number) * (SUFFIXES[suffix] ?? Number.NaN);
  // A tenth is no binary fraction: what is told apart is a billionth.
  return Math.round(amount * 1e9);
};
