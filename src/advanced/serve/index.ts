export { createAdvancedKind } from './advanced-kind.ts';
export { putTemplate } from './put-template.ts';
export { readObstacle } from './read-obstacle.ts';
