import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMetaXmlDialect } from '../../../src/dialect/meta-xml/dialect.ts';
import { checkProfile } from '../../../src/dialect/meta-xml/profile-check.ts';
import { loadProfile, profileHash } from '../../../src/dialect/meta-xml/profile.ts';
import type { Profile } from '../../../src/dialect/meta-xml/profile-schema.ts';
import { decoded, message, OPTIONS, patches, SIS, verdict } from '../kit.ts';

const YAML = readFileSync(new URL('../../../src/dialect/profiles/sis.yaml', import.meta.url), 'utf8');

/** The profile `sis` with lines exchanged, as read from a file. */
function edited(...edits: readonly (readonly [from: string, to: string])[]): unknown {
  let text = YAML;
  for (const [from, to] of edits) {
    if (!text.includes(from)) throw new Error(`no such line: ${from}`);
    text = text.replace(from, to);
  }
  return parse(text);
}

function faultsOf(input: unknown): readonly string[] {
  const checked = checkProfile(input);
  return checked.ok ? [] : checked.faults;
}

function valid(input: unknown): Profile {
  const checked = checkProfile(input);
  if (!checked.ok) throw new Error(checked.faults.join('\n'));
  return checked.profile;
}

describe('the check of a profile', () => {
  test('sis is valid', () => {
    expect(faultsOf(parse(YAML))).toEqual([]);
  });

  test.each([
    [
      'ESTM: estimatedTime',
      'ESTM: estimatedTim',
      "flight.scalars.ESTM: no field 'estimatedTim'; did you mean 'estimatedTime'?",
    ],
    ['RUNW: runway', 'RUNW: zzzzzzzz', "flight.scalars.RUNW: no field 'zzzzzzzz'"],
    [
      'ACTM: actualTime',
      'ACTM: estimatedTime',
      "flight.scalars.ACTM: field 'estimatedTime' is already written by flight.scalars.ESTM",
    ],
    [
      'collection: gates',
      'collection: gate',
      "flight.lists.GTDT.collection: no collection 'gate' that is replaced; did you mean 'gates'?",
    ],
    [
      'operation: ABOP',
      'operaton: ABOP',
      "flight.lists.ABTM.attributes.operaton: no attribute of airbridges; did you mean 'operation'?",
    ],
    [
      'code: PSST',
      'tractorAt: PSST',
      'flight.lists.PSDT.attributes.tractorAt: kept per stand, see flight.push and flight.tractor',
    ],
    ['code: PSST', 'code: STST', "flight.lists.PSDT.attributes: 'STST' is read twice"],
    ['unless: ERUT', 'unless: ERTU', "flight.lists.ROUT.unless: 'ERTU' is no other element of route"],
    ['\n      unless: ERUT', '', "flight.lists.ROUT: route is already written by ERUT; say 'unless'"],
    ['markers: [FDEL]', 'markers: [RENO]', 'flight.scalars.RENO: already has a meaning in flight.markers'],
    [
      'C: port.closedAt',
      'C: status',
      "flight.discriminated.PORT: field 'status' is already written by flight.scalars.FTSS",
    ],
    [
      'GTDT: [GTDT]',
      'GTDT: [GTDX]',
      "kinds.operation.subtypes.GTDT: no element 'GTDX' in flight; did you mean 'GTDT'?",
    ],
    [
      'required: [FLID, FLNO',
      'required: [FLID, FLNR',
      "kinds.schedule.required: no element 'FLNR' in flight; did you mean 'FLNO'?",
    ],
    ['    type: FDEL', '    type: FLOP', 'kinds.deletion.type: TYPE FLOP is already kinds.operation.type'],
    ['subtypes: [FDEL]', 'subtypes: [GTDT]', 'kinds.deletion.subtypes: GTDT is also an operational update'],
    [
      'formats: [ddMMMyyHHmm',
      'formats: [ddMMyyyyHHmm',
      'times.formats.2: yyyyMMddHHmm cannot be told from ddMMyyyyHHmm',
    ],
    [
      'header-time: yyyyMMddHHmmss',
      'header-time: yyyy',
      'outbound.header-time: a time format names year, month, day, HH and mm exactly once each',
    ],
    [
      '  sender: SNDR',
      '  sendr: SNDR',
      'envelope.sender: Invalid input: expected string, received undefined',
    ],
    [
      '    routing: ROUTINGID',
      "    routing: 'x; drop'",
      'mailbox.outbound.routing: expected a table or column name',
    ],
    [
      '    status: STTS',
      '    statsu: STTS',
      "names.fields.statsu: no field of a flight; did you mean 'status'?",
    ],
    ['    delays.code: DLYL', '    delays.code: DLYX', 'names.fields.delays.code: names.elements lacks DLYX'],
    [
      '    DLYL: [CDES, DESC]',
      '    DLYL: []',
      'names.elements.DLYL: Too small: expected array to have >=1 items',
    ],
    [
      'stand: PUST, time',
      'stnd: PUST, time',
      'flight.push.PSHT.stand: Invalid input: expected string, received undefined',
    ],
  ])('%s → %s', (from, to, fault) => {
    expect(faultsOf(edited([from, to]))).toContain(fault);
  });

  test('an unknown key is named with the nearest known one', () => {
    const input = edited(
      ['  echo: RSEQ', '  ehco: RSEQ'],
      ['    payload: SCHD', '    paylod: SCHD'],
      ['time: PSTM', 'time: PSTM, unusd: [X]'],
    );
    expect(faultsOf(input)).toEqual(
      expect.arrayContaining([
        "envelope.ehco: unknown key; did you mean 'echo'?",
        "kinds.schedule.paylod: unknown key; did you mean 'payload'?",
        "flight.push.PSHT.unusd: unknown key; did you mean 'unused'?",
      ]),
    );
  });

  test('all faults are listed at once', () => {
    expect(
      faultsOf(
        edited(['RUNW: runway', 'RUNW: runwy'], ['code: BELT', 'cod: BELT'], ['unless: ERUT', 'unless: X']),
      ),
    ).toHaveLength(3);
  });

  test('is total', () => {
    for (const input of [null, undefined, 1, 'x', [], {}, { name: 1, more: 2 }]) {
      expect(faultsOf(input).length).toBeGreaterThan(0);
    }
  });
});

describe('another airport of the family is a profile', () => {
  test('names, formats and bodies named after STYP', () => {
    const profile = valid(
      edited(
        ['  time: DTTM', '  time: DDTM'],
        ['formats: [ddMMMyyHHmm, yyyyMMddHHmmss, yyyyMMddHHmm]', "formats: ['yyyy-MM-dd HH:mm:ss']"],
        ['    record: FLOP', "    record: '{STYP}'"],
        ['RENO: registration', 'REGN: registration'],
        ['      RENO: [RENO]', '      RENO: [REGN]'],
      ),
    );
    const other = createMetaXmlDialect(profile, OPTIONS);
    const text = message(
      'FLOP',
      'RENO',
      '<RENO><FLID>1</FLID><REGN>B1</REGN><CNCL>2026-03-14 08:00:01</CNCL></RENO>',
    )
      .replaceAll('DTTM', 'DDTM')
      .replace('20260314060000', '2026-03-14 06:00:00');
    expect(patches(text, other)[0]?.writes).toEqual([
      { kind: 'scalar', field: 'registration', value: 'B1' },
      { kind: 'scalar', field: 'cancelledAt', value: '2026-03-14T08:00:01+08:00' },
    ]);
    expect(decoded(text, other).header.dttm).toBe('2026-03-14T06:00:00+08:00');
    expect(verdict(text)).toBe('malformed meta-missing:DTTM');
  });
});

describe('the profile hash', () => {
  const base = profileHash(SIS, OPTIONS);

  test('says what decides how a text is judged', () => {
    const differing = [
      profileHash(
        valid(edited(['RENO: registration', 'REGX: registration'], ['RENO: [RENO]', 'RENO: [REGX]'])),
        OPTIONS,
      ),
      profileHash(SIS, { ...OPTIONS, timeZone: 'Asia/Tokyo' }),
      profileHash(SIS, { ...OPTIONS, operationDayCutoff: '04:00' }),
      profileHash(SIS, { ...OPTIONS, ignore: ['LDM'] }),
      profileHash(SIS, { ...OPTIONS, reference: ['ABDG'] }),
      profileHash(SIS, { ...OPTIONS, maxMessageBytes: 1 }),
      profileHash(SIS, { ...OPTIONS, maxDepth: 3 }),
    ];
    expect(new Set([base, ...differing]).size).toBe(differing.length + 1);
  });

  test('and nothing else', () => {
    expect(base).toMatch(/^[0-9a-f]{64}$/);
    expect(
      profileHash(valid(edited(['table: CMINMSGS', 'table: INBOX'], ['UNTL:', 'UNTIL:'])), OPTIONS),
    ).toBe(base);
    expect(profileHash(SIS, { ...OPTIONS, ignore: null })).toBe(base);
    expect(profileHash(SIS, { ...OPTIONS, ignore: ['EROR', 'LDM', 'RSTA', 'REGN'] })).toBe(base);
    expect(
      profileHash(
        valid(edited(['    FFID: ffid\n    ALCD: airline', '    ALCD: airline\n    FFID: ffid'])),
        OPTIONS,
      ),
    ).toBe(base);
  });
});

describe('loading', () => {
  test('a file, YAML or JSON, is worth the same as the built-in one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'msgx-profile-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'mine.json');
    await writeFile(file, JSON.stringify(parse(YAML)));
    expect(await loadProfile(file)).toEqual(SIS);
    await writeFile(file, YAML.replace('RUNW: runway', 'RUNW: runwy').replace('code: BELT', 'cod: BELT'));
    await expect(loadProfile(file)).rejects.toMatchObject({
      name: 'DialectLoadError',
      faults: [expect.stringContaining('RUNW'), expect.stringContaining('CLDT')],
    });
    await writeFile(file, 'name: [');
    await expect(loadProfile(file)).rejects.toThrow(/cannot be read/);
    await expect(loadProfile(join(folder, 'none.yaml'))).rejects.toThrow(/cannot be read\s+ENOENT/);
  });
});
