import { type Json } from '../value/index.ts';
import { canonicalQuantities, canonicalQuantity } from './quantity.ts';
import { inEach, inField, under } from './shaping.ts';

const fieldRef = (source: Json): Json =>
  inField(
    inField(source, 'fieldRef', (ref) => under(ref, { apiVersion: 'v1' })),
    'resourceFieldRef',
    (ref) => under(ref, { divisor: '0' }),
  );

export const sourceDefaults = fieldRef;

const projected = (source: Json): Json =>
  inField(
    inField(source, 'serviceAccountToken', (token) => under(token, { expirationSeconds: 3600 })),
    'downwardAPI',
    (api) => inEach(api, 'items', fieldRef),
  );

/** What each kind of volume starts from. */
const BASE: Readonly<Record<string, Json>> = {
  secret: { defaultMode: 420 },
  configMap: { defaultMode: 420 },
  downwardAPI: { defaultMode: 420 },
  projected: { defaultMode: 420 },
  hostPath: { type: '' },
  iscsi: { iscsiInterface: 'default' },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
};

const claim = (source: Json): Json =>
  inField(source, 'volumeClaimTemplate', (template) =>
    inField(under(template, { metadata: {} }), 'spec', (spec) =>
      inField(under(spec, { volumeMode: 'Filesystem' }), 'resources', (resources) =>
        inField(inField(resources, 'limits', canonicalQuantities), 'requests', canonicalQuantities),
      ),
    ),
  );

const sized = (source: Json): Json =>
  source.sizeLimit === undefined ? source : { ...source, sizeLimit: canonicalQuantity(source.sizeLimit) };

/** A volume with everything that the API server fills in; one of no kind is an empty folder. */
export const defaultVolume = (given: Json): Json => {
  let result = given;
  for (const [kind, base] of Object.entries(BASE)) result = inField(result, kind, (source) => under(source, base));
  result = inField(result, 'projected', (source) => inEach(source, 'sources', projected));
  result = inField(result, 'downwardAPI', (source) => inEach(source, 'items', fieldRef));
  result = inField(result, 'ephemeral', claim);
  result = inField(result, 'emptyDir', sized);
  return Object.keys(result).some((key) => key !== 'name') ? result : { ...result, emptyDir: {} };
};
