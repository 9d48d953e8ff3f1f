/** A straight line through points, by least squares. */
export interface Slope {
  /** By how much y grows where x grows by 1. */
  slope: number;
  /** Twice its standard error: the true slope is this close in 95 of 100 cases, if the points scatter at random. */
  error: number;
}

export const slopeOf = (points: readonly (readonly [x: number, y: number])[]): Slope => {
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const rest = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return { slope, error: 2 * Math.sqrt(rest / (points.length - 2) / spread) };
};
