/** Is one version of an object older than another? False where nobody can tell. */
export const isOlderVersion = (a: string, b: string): boolean => {
  const [left, right] = [Number(a), Number(b)];
  return Number.isFinite(left) && Number.isFinite(right) && left < right;
};
