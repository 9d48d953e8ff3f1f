export { createLiveView, type LiveViewOptions } from './live-view.ts';
export { createPlainView } from './plain-view.ts';
export type { View } from './view.ts';
