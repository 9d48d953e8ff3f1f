import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Calendar } from '../policy/plan-terms.ts';
import { forecastWaves } from './forecast.ts';

const MINUTE_MS = 60_000;
const at = (text: string): number => Date.parse(`2026-03-${text}:00Z`);
const nightly: Calendar = { windows: [{ from: '02:00', to: '03:00' }], freezes: [] };
const forecast = (calendar: Calendar, count: number, minutes: number, start: string, timeZone?: string): string[] => {
  const { beginsAt, endsAt } = forecastWaves(calendar, { timeZone, count, ms: minutes * MINUTE_MS }, at(start));
  return [beginsAt, endsAt].map((time) =>
    Number.isFinite(time) ? new Date(time).toISOString().slice(8, 16) : 'never',
  );
};

describe('the forecast of updates', () => {
  it('is one after the other without a calendar', () => {
    assert.deepEqual(forecast({ windows: [], freezes: [] }, 3, 20, '01T10:00'), ['01T10:00', '01T11:00']);
    assert.deepEqual(forecast(nightly, 0, 20, '01T10:00'), ['01T10:00', '01T10:00'], 'nothing to update');
  });

  it('begins updates only in windows, and lets them end after these', () => {
    assert.deepEqual(forecast(nightly, 1, 20, '01T10:00'), ['02T02:00', '02T02:20']);
    assert.deepEqual(forecast(nightly, 3, 25, '01T02:30'), ['01T02:30', '02T02:25']);
    assert.deepEqual(forecast(nightly, 3, 25, '01T10:00'), ['02T02:00', '02T03:15']);
    assert.deepEqual(forecast(nightly, 9, 0, '01T10:00'), ['02T02:00', '02T02:00']);
  });

  it('continues in the window that is open when a long update ends', () => {
    assert.deepEqual(forecast(nightly, 2, 24 * 60 + 30, '01T02:15'), ['01T02:15', '03T03:15']);
  });

  it('passes over freezes', () => {
    const frozen = { ...nightly, freezes: [{ from: at('02T00:00'), to: at('04T00:00') }] };
    assert.deepEqual(forecast(frozen, 4, 20, '01T02:20'), ['01T02:20', '04T02:40']);
    assert.deepEqual(forecast({ windows: [], freezes: frozen.freezes }, 1, 20, '03T00:00'), ['04T00:00', '04T00:20']);
  });

  it('goes by the time of the node', () => {
    const local: Calendar = { windows: [{ from: '02:00', to: '03:00', timeZone: 'node' }], freezes: [] };
    assert.deepEqual(forecast(local, 1, 20, '01T10:00', 'Asia/Tokyo'), ['01T17:00', '01T17:20']);
  });

  it('knows no end where windows are closed for a year, or too short', () => {
    const closed = { ...nightly, freezes: [{ from: at('01T00:00'), to: at('01T00:00') + 800 * 24 * 60 * MINUTE_MS }] };
    assert.deepEqual(forecast(closed, 1, 20, '01T10:00'), ['never', 'never']);
    assert.deepEqual(forecast(nightly, 4_000, 60, '01T10:00')[1], 'never');
  });
});
