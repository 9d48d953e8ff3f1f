export { imageReadyOf } from '../../rollout/index.ts';
export {
  createImagePulls,
  type ImagePulls,
  type ImagePullsOptions,
  type PullTarget,
  type TargetOf,
} from './image-pulls.ts';
export { createImageSizes, type ImageSizes } from './image-sizes.ts';
