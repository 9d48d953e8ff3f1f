export { barLine, drawFrame, type FrameText } from './frame.ts';
export { type Line, padded, piece, toText, widthOf } from './line.ts';
export { drawPicture, type Picture } from './picture.ts';
export { type EventLine, emptySnapshot, type NodeState, type Snapshot } from './snapshot.ts';
export { alarm, background, border, box, escape, FONT, foreground, label, phaseBox, round } from './svg.ts';
