export { plainText } from './plain-text.ts';
export { parseYaml, YamlError } from './yaml.ts';
