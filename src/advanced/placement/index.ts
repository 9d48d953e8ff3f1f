export {
  ENDINGS_ANNOTATION,
  type Endings,
  formatEndings,
  laterOf,
  oneMore,
  parseEndings,
} from './back-off.ts';
export type { Creation, PlaceableNode, PlacedPod, Removal, RemovalReason } from './facts.ts';
export { type Placement, type PlacementInput, place } from './place.ts';
export { type SlowStart, slowStart } from './slow-start.ts';
