export { apiVersionOf, type CustomVersion, type Kind, type Subresource } from './kind.ts';
export { createRegistry, type Registry } from './registry.ts';
export type { Strategy, StrategyContext } from './strategy.ts';
