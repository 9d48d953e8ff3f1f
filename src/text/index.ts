export { byName, compareNames } from './compare-names.ts';
export { escapeLine, escapeText, isActive, toLines, toMessage } from './escape.ts';
export { plainText } from './plain-text.ts';
export { quoted } from './quoted.ts';
export { parseYaml, YamlError } from './yaml.ts';
