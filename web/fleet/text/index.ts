import { textIn } from '../../language.ts';
import { en } from './en.ts';

/** The texts of the page in the reader's language. A new language is a copy of en.ts and an entry here. */
export const text = textIn([en], navigator.languages);
