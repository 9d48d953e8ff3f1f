export { afterPowerCut, createDisk, type Disk, type DiskOp } from './disk.ts';
