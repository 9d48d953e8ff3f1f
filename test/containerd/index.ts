export { type Containerd, startContainerd } from './containerd.ts';
export { type Packages, whyNoContainerd, whyNotInstalled } from './install.ts';
export { image, type Layer, layer, type OciImage } from './oci-image.ts';
export { type Registry, startRegistry } from './registry.ts';
