import { render } from 'preact';
import { startKeys } from './keys/keys.ts';
import { Page } from './parts/page.tsx';
import { begin } from './session.ts';
import { text } from './text/index.ts';
import { watchWall } from './wall/wall.ts';

document.documentElement.lang = text.language;
void begin();
startKeys();
watchWall();
const root = document.querySelector('#page');
if (root) render(<Page />, root);
