import { effect } from '@preact/signals';
import { render } from 'preact';
import { Page } from './parts/page.tsx';
import { createStore } from './store.ts';
import { rememberedLanguage } from './text/choice.ts';
import { textFor } from './text/index.ts';

const store = createStore(textFor([...rememberedLanguage(), ...navigator.languages]));
effect(() => {
  document.documentElement.lang = store.text.language;
  document.title = store.text.title;
});
store.start();
const root = document.querySelector('#page');
if (root) render(<Page store={store} />, root);
