/** More of a check's answer than this is not looked at. */
export const OUTPUT_LIMIT = 4096;
const LONGEST_MESSAGE = 200;

/** The first line that holds anything, without what a terminal or a page would not show. */
export const firstLine = (output: Buffer): string => {
  const line = output
    .toString('utf8')
    .split(/[\r\n]/)
    .find((text) => text.trim() !== '');
  return (line ?? '')
    .replaceAll(/[\p{Cc}\p{Cf}\uFFFD]/gu, '')
    .trim()
    .slice(0, LONGEST_MESSAGE);
};
