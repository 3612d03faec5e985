import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { prefixOf } from '../../../src/domain/reasons.ts';
import { dialect, sis } from '../kit.ts';
import { CODEC, MALFORMED } from '../named.ts';

// Properties do a thousand runs; a busy machine may take its time over them.
vi.setConfig({ testTimeout: 60_000 });

const DAY = new URL('../../fixtures/day/', import.meta.url);
const MESSAGES = readdirSync(DAY)
  .filter((file) => file.endsWith('.xml'))
  .map((file) => readFileSync(new URL(file, DAY), 'utf8'));
const KINDS = ['schedule', 'operation', 'deletion', 'reference', 'ignored', 'unsupported'];

/** Named, of the right class, and nothing that only an unexpected failure would give. */
function checkNamed(text: string, by = dialect): void {
  const outcome = by.decode(text);
  if (outcome.outcome === 'decoded') {
    expect(KINDS).toContain(outcome.message.body.kind);
    expect(outcome.message.contentHash).toMatch(/^[0-9a-f]{64}$/);
    return;
  }
  expect(outcome.reason).not.toContain('codec:reader');
  expect(outcome.outcome === 'malformed' ? MALFORMED : CODEC).toContain(prefixOf(outcome.reason));
  for (const fault of outcome.faults) expect(prefixOf(fault.reason)).not.toBeNull();
}

const fragment = fc.constantFrom(
  '<',
  '>',
  '/>',
  '</',
  '&',
  ';',
  '"',
  "'",
  '=',
  ' ',
  '\n',
  '\u0000',
  '\uFEFF',
  '\uD800',
  ']]>',
  '<![CDATA[',
  '<!--',
  '-->',
  '<?',
  '<!DOCTYPE a>',
  '<FLID/>',
  '<GTDT GTNO="x">',
  '</FLOP>',
  '<FLOP>',
  '<META>',
  '</META>',
  'FDEL',
  'SCHD',
  '31FEB260800',
  '2400',
  '9'.repeat(30),
  '<__proto__>',
  'xmlns:a="b"',
  '航',
);

describe('decoding is total', () => {
  test('over arbitrary texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => checkNamed(text)),
      { numRuns: 800 },
    );
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 30 }), (parts) => checkNamed(parts.join(''))),
      { numRuns: 800 },
    );
  });

  test('over messages cut, spliced and overwritten', () => {
    const edit = fc.record({
      at: fc.nat(),
      drop: fc.nat({ max: 40 }),
      insert: fc.oneof(fc.constant(''), fragment),
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...MESSAGES),
        fc.array(edit, { minLength: 1, maxLength: 4 }),
        (start, edits) => {
          let text = start;
          for (const { at, drop, insert } of edits) {
            const from = at % (text.length + 1);
            text = text.slice(0, from) + insert + text.slice(from + drop);
          }
          checkNamed(text);
        },
      ),
      { numRuns: 1500 },
    );
  });

  test('over well-formed messages with values and elements exchanged', () => {
    const strict = sis({ maxDepth: 5, timeZone: 'America/New_York' });
    const names = [
      ...new Set(
        MESSAGES.flatMap((text) => [...text.matchAll(/<([A-Z]{4})/g)].map(([, name]) => name ?? '')),
      ),
    ];
    const value = fc.oneof(
      fragment.filter((part) => !/[<>&\u0000\uD800]/u.test(part)),
      fc.constantFrom('', 'A', 'O', 'X', '14MAR260805', '20260314080500', '0045', '12', '1.5'),
    );
    const leaf = fc
      .tuple(fc.constantFrom(...names), value)
      .map(([name, text]) => `<${name}>${text}</${name}>`);
    const element = fc
      .tuple(fc.constantFrom(...names), fc.array(leaf, { maxLength: 4 }))
      .map(([name, leaves]) => `<${name} GTNO="1" CODE="81" RTNO="">${leaves.join('')}</${name}>`);
    const payload = fc.array(fc.oneof(leaf, element), { maxLength: 8 });
    const kinds = fc.constantFrom(
      'SCHD/DNLD',
      'FLOP/GTDT',
      'FLOP/FDEL',
      'FDEL/XX',
      'ABDG/DNLD',
      'ARPT/DEL',
      'LDM/NONE',
      'SCHS/DNLD',
    );
    fc.assert(
      fc.property(kinds, payload, fc.boolean(), (kind, parts, wrapped) => {
        const [type = '', styp = ''] = kind.split('/');
        const content = wrapped
          ? `<${type}><FLID>1</FLID><FLTR>${parts.join('')}</FLTR>${parts.join('')}</${type}>`
          : parts.join('');
        const meta = `<META><SNDR>A</SNDR><SEQN>1</SEQN><DTTM>202603140600</DTTM><TYPE>${type}</TYPE><STYP>${styp}</STYP></META>`;
        const text = `<MSG>${meta}${content}</MSG>`;
        checkNamed(text);
        checkNamed(text, strict);
      }),
      { numRuns: 800 },
    );
  });

  test('and says the same twice', () => {
    for (const text of MESSAGES) expect(dialect.decode(text)).toEqual(sis().decode(text));
  });
});
