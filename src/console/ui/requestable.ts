/** The types of reference data that the upstream can be asked for. */
import { useCallback } from 'react';
import { fetchRequests } from '../api/requests.ts';
import { useReading } from './reading.ts';

/** They belong to the dialect, so they change with a restart only. */
const SELDOM_MS = 600_000;
const NONE: readonly string[] = [];

export function useRequestable(): readonly string[] {
  const read = useCallback(
    async (signal: AbortSignal) => (await fetchRequests('open', 1, signal)).referenceTypes,
    [],
  );
  return useReading(read, SELDOM_MS).data ?? NONE;
}
