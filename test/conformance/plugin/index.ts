import type { Rule } from '../kit/index.ts';
import { advancedOnes } from './advanced.ts';
import { advancedUndoing } from './advanced-undo.ts';
import { connecting } from './connection.ts';
import { control } from './control.ts';
import { deciding } from './decisions.ts';
import { explaining } from './explain.ts';
import { following, followingAdvanced } from './get.ts';
import { kubectl, rights } from './kubectl.ts';
import { undoing } from './undo.ts';

/** What `kubectl edgeset` must tell and do, on any cluster. */
export const pluginRules: readonly Rule[] = [
  ...explaining,
  ...following,
  ...followingAdvanced,
  ...control,
  ...undoing,
  ...kubectl,
  ...connecting,
  ...deciding,
  ...advancedOnes,
  ...advancedUndoing,
];

/** What it must tell where the API server checks rights, which the embedded one does not. */
export const pluginRightsRules: readonly Rule[] = rights;
