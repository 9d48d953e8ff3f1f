export { type Containerd, startContainerd } from './containerd.ts';
export { whyNoContainerd, whyNotInstalled } from './install.ts';
export { image, layer, type OciImage } from './oci-image.ts';
export { type Registry, startRegistry } from './registry.ts';
