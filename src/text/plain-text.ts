/**
 * A text of others as a status, an Event or an annotation may carry it: whoever shows these to people need not know that
 * characters can begin a line, act on a terminal, or reverse the text around them.
 */
export const plainText = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replaceAll(/\p{Bidi_Control}/gu, '');
