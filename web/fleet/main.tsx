import { render } from 'preact';
import { Page } from './parts/page.tsx';
import { begin } from './session.ts';
import { text } from './text/index.ts';

document.documentElement.lang = text.language;
void begin();
const root = document.querySelector('#page');
if (root) render(<Page />, root);
