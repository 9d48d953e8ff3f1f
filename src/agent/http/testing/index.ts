export { dial, type RawAnswer, readAnswers, sendRaw } from './raw-http.ts';
