import { type Json } from '../../value/index.ts';
import { canonicalQuantities, canonicalQuantity } from './quantity.ts';
import { mapField, mapItems, withDefaultFields } from './shaping.ts';

const fieldRef = (source: Json): Json =>
  mapField(
    mapField(source, 'fieldRef', (ref) => withDefaultFields(ref, { apiVersion: 'v1' })),
    'resourceFieldRef',
    (ref) => withDefaultFields(ref, { divisor: '0' }),
  );

export const sourceDefaults = fieldRef;

const projected = (source: Json): Json =>
  mapField(
    mapField(source, 'serviceAccountToken', (token) => withDefaultFields(token, { expirationSeconds: 3600 })),
    'downwardAPI',
    (api) => mapItems(api, 'items', fieldRef),
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
  mapField(source, 'volumeClaimTemplate', (template) =>
    mapField(withDefaultFields(template, { metadata: {} }), 'spec', (spec) =>
      mapField(withDefaultFields(spec, { volumeMode: 'Filesystem' }), 'resources', (resources) =>
        mapField(mapField(resources, 'limits', canonicalQuantities), 'requests', canonicalQuantities),
      ),
    ),
  );

const sized = (source: Json): Json =>
  source.sizeLimit === undefined ? source : { ...source, sizeLimit: canonicalQuantity(source.sizeLimit) };

/** A volume with everything that the API server fills in; one of no kind is an empty folder. */
export const defaultVolume = (given: Json): Json => {
  let result = given;
  for (const [kind, base] of Object.entries(BASE))
    result = mapField(result, kind, (source) => withDefaultFields(source, base));
  result = mapField(result, 'projected', (source) => mapItems(source, 'sources', projected));
  result = mapField(result, 'downwardAPI', (source) => mapItems(source, 'items', fieldRef));
  result = mapField(result, 'ephemeral', claim);
  result = mapField(result, 'emptyDir', sized);
  return Object.keys(result).some((key) => key !== 'name') ? result : { ...result, emptyDir: {} };
};
