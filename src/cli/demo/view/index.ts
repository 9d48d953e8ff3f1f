export { createLiveView } from './live-view.ts';
export { drawPicture, type Picture } from './picture.ts';
export { createPlainView } from './plain-view.ts';
export type { StepProgress, View } from './view.ts';
