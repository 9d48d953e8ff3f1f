/** How to reach the administrator. */
export interface Contact {
  text: string;
  /** Absent for a code, a room or whatever else can't be opened. */
  href?: string;
}

const PHONE = /^\+?[0-9(][0-9()./ -]*$/;
const FEWEST_DIGITS = 7;
const MOST_DIGITS = 15;
/** Nothing that adds headers to a mail. */
const MAIL = /^[\w.+'-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i;
/** No spaces and no letters that look like others. */
const ASCII = /^[\x21-\x7e]+$/;

const phoneOf = (text: string): string | undefined => {
  if (!PHONE.test(text)) return undefined;
  // The zero of +49 (0)30 is for calls within the country.
  const dialled = (text.startsWith('+') ? text.replace('(0)', '') : text).replaceAll(/[^+0-9]/g, '');
  const digits = dialled.replace('+', '').length;
  return digits >= FEWEST_DIGITS && digits <= MOST_DIGITS ? `tel:${dialled}` : undefined;
};

const pageOf = (text: string): string | undefined => {
  if (!ASCII.test(text) || !/^https:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, username, password, href } = new URL(text);
  return protocol === 'https:' && username === '' && password === '' ? href : undefined;
};

/** What the administrator's text can open: a phone number, an e-mail address or an https URL as a whole, and nothing else. */
export const contactOf = (text: string): Contact => {
  const href = phoneOf(text) ?? (MAIL.test(text) ? `mailto:${text}` : undefined) ?? pageOf(text);
  return href === undefined ? { text } : { text, href };
};
