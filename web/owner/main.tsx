import { render } from 'preact';
import { Page } from './parts/page.tsx';
import { createStore } from './store.ts';
import { textFor } from './text/index.ts';

const text = textFor(navigator.languages);
document.documentElement.lang = text.language;
document.title = text.title;

const store = createStore(text);
store.start();
const root = document.querySelector('#page');
if (root) render(<Page store={store} />, root);
