/** The few signs of the page. Each has a shape of its own, so that colour is never the only carrier. */
import type { ReactNode } from 'react';
import type { StationState } from '../api/types.ts';
import type { Severity } from '../model/verdict.ts';

export type Sign = 'check' | 'pause' | 'alert' | 'stop' | 'clock' | 'person' | 'info';

const PATHS: Readonly<Record<Sign, ReactNode>> = {
  check: (
    <>
      <circle cx="8" cy="8" r="6.5" />
      <path d="m5.2 8.2 2 2 3.7-4.2" />
    </>
  ),
  pause: (
    <>
      <rect x="1.5" y="1.5" width="13" height="13" rx="3" />
      <path d="M6.2 5.4v5.2M9.8 5.4v5.2" />
    </>
  ),
  alert: (
    <>
      <path d="M8 1.8 15 14H1z" />
      <path d="M8 6.2v3.6M8 11.8v.3" />
    </>
  ),
  stop: (
    <>
      <path d="M5.2 1.5h5.6l3.7 3.7v5.6l-3.7 3.7H5.2l-3.7-3.7V5.2z" />
      <path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" />
    </>
  ),
  clock: (
    <>
      <circle cx="8" cy="8" r="6.5" />
      <path d="M8 4.4V8l2.4 1.6" />
    </>
  ),
  person: (
    <>
      <circle cx="8" cy="4.8" r="2.9" />
      <path d="M2.2 14.4c.5-3.2 2.7-4.9 5.8-4.9s5.3 1.7 5.8 4.9z" />
    </>
  ),
  info: (
    <>
      <circle cx="8" cy="8" r="6.5" />
      <path d="M8 7.3v3.7M8 4.9v.2" />
    </>
  ),
};

export function Icon({ sign }: { readonly sign: Sign }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {PATHS[sign]}
    </svg>
  );
}

export const STATION_SIGN: Readonly<Record<StationState, Sign>> = {
  running: 'check',
  paused: 'pause',
  outage: 'alert',
  stopped: 'stop',
};

export const SEVERITY_SIGN: Readonly<Record<Severity, Sign>> = {
  stop: 'stop',
  person: 'person',
  wait: 'clock',
  info: 'info',
  ok: 'check',
};
