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
 * Parses a resource quantity to a number: the kubelet may report an amount in another unit than the spec, such as 64M of
 * memory as 62500Ki. Returns NaN, which equals nothing, for an invalid quantity.
 */
export const parseQuantity = (quantity: string | undefined): number => {
  const [, number = '', suffix = ''] = /^([+-]?[0-9.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(quantity ?? '') ?? [];
  const amount = number === '' ? Number.NaN : Number(number) * (SUFFIXES[suffix] ?? Number.NaN);
  // Decimal fractions are not exact in binary: compare in billionths.
  return Math.round(amount * 1e9);
};
