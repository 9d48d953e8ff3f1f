export { dial, exchange, type RawAnswer, readAnswers, sendRaw } from './raw-http.ts';
