/** `msgx flight FLID`: current state, where each field came from, versions, the messages that touched it. */
import type { Command } from 'commander';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { FlightMessageRow, FlightRow } from '../../store/browse.ts';
import { print, printJson, table } from '../output.ts';
import { ExpectedFailure, addCommand, withConfig, type CommonOptions } from '../shell.ts';

interface FlightOptions extends CommonOptions {
  readonly history?: true;
}

export function register(program: Command): void {
  addCommand(program, {
    usage: 'flight <flid>',
    description: 'current state of a flight and which message set each field',
  })
    .option('--history', 'also the messages that touched it, newest first')
    .action(showFlight);
}

async function showFlight(flid: string, options: FlightOptions): Promise<void> {
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { selectFlight, selectFlightHistory } = await import('../../store/browse.ts');
  await withSchema(config, async ({ database }) => {
    const row = await selectFlight(database, flid);
    if (row === null) throw new ExpectedFailure(`no flight ${flid}`);
    const messages = options.history === true ? await selectFlightHistory(database, flid, 1_000) : [];
    await show(row, messages, options);
  });
}

async function show(
  row: FlightRow,
  messages: readonly FlightMessageRow[],
  options: FlightOptions,
): Promise<void> {
  const { canonicalise } = await import('../../domain/state.ts');
  const { lineage } = await import('../../domain/stamps.ts');
  const { flid, version, operationDay, deleted, archived, updatedAt, lastMsgId } = row;
  const state = canonicalise(row.state);
  const setBy = lineage(row.stamps as unknown as Parameters<typeof lineage>[0]);
  if (options.json === true) {
    printJson({
      ...{ flid, version, operationDay, deleted, archived, updatedAt, lastMsgId },
      flight: state,
      lineage: Object.fromEntries(setBy),
      ...(options.history === true ? { messages } : {}),
    });
    return;
  }
  print(
    `flight ${flid}, version ${version}, operation day ${operationDay}${deleted ? ', deleted' : ''}${archived ? ', archived' : ''}`,
    `last message ${lastMsgId.toString()}, updated ${updatedAt}`,
    '',
    ...table(['field', 'value', 'set by'], fieldRows(state, setBy)),
  );
  if (options.history !== true) return;
  print(
    '',
    ...table(
      ['message', 'type', 'state', 'version', 'changed', 'superseded', 'at'],
      messages.map((message) => [
        message.msgId,
        `${message.type ?? ''}/${message.styp ?? ''}`,
        message.state,
        message.stateVersion,
        message.changed.join(', '),
        message.superseded.join(', '),
        message.terminalAt,
      ]),
    ),
  );
}

/** Every known value; an entry of a collection takes a line. */
function fieldRows(state: JsonObject, setBy: ReadonlyMap<string, string>): string[][] {
  const rows: string[][] = [];
  const walk = (path: string, value: Json) => {
    if (value === null || path === 'flid') return;
    if (Array.isArray(value)) {
      for (const entry of value as readonly Json[]) rows.push([path, compact(entry), setBy.get(path) ?? '']);
    } else if (typeof value === 'object') {
      for (const [name, part] of Object.entries(value as JsonObject))
        walk(path === '' ? name : `${path}.${name}`, part);
    } else {
      rows.push([path, String(value), setBy.get(path) ?? '']);
    }
  };
  walk('', state);
  return rows;
}

/** The known attributes of an entry. */
function compact(entry: Json): string {
  if (entry === null || typeof entry !== 'object') return String(entry);
  return Object.entries(entry as JsonObject)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? `(${compact(value)})` : String(value)}`)
    .filter((text) => !text.endsWith('()'))
    .join(', ');
}
