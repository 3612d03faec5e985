/** Where a fault stands in a text, what of a long text is shown, and what a time at the airport is. */
import { describe, expect, it } from 'vitest';
import { momentOf } from '../../src/console/model/airport-local.ts';
import { piecesOf, placeOf, placesNaming } from '../../src/console/model/text-place.ts';

describe('the place of a fault', () => {
  const marked = (text: string, line: number, column: number): string | null => {
    const place = placeOf(text, line, column);
    return place === null ? null : text.slice(place.start, place.end);
  };

  it.each([
    ['<A><B>x</B></A>', 1, 4, '<B>x</B>'],
    ['<A>\n <B x="1"/>\n</A>', 2, 2, '<B x="1"/>'],
    ['<A>\r\n\r <B/></A>', 3, 2, '<B/>'],
    ['\uFEFF<A/>', 1, 1, '<A/>'],
    [`<A><B>${'x'.repeat(500)}</B></A>`, 1, 4, '<B>'],
    ['<A>one & two<B/></A>', 1, 8, '& two'],
    ['<A><B', 1, 4, '<B'],
    ['<A>', 1, 4, ''],
    ['<A>', 2, 1, null],
    ['<A>', 1, 9, null],
  ])('in %j at %i:%i is %j', (text, line, column, expected) => {
    expect(marked(text, line, column)).toBe(expected);
  });

  it('of a flight is where it is the whole content of an element', () => {
    const text = '<A>7001</A><B> 7001 </B><C>17001</C><D>x 7001</D>';
    expect(placesNaming(text, '7001').map(({ start }) => start)).toEqual([3, 15]);
  });
});

describe('the pieces of a text', () => {
  const kinds = (text: string, ...places: readonly (readonly [number, number])[]) =>
    piecesOf(
      text,
      places.map(([start, end]) => ({ start, end })),
    ).map((piece) =>
      piece.kind === 'left-out'
        ? `…${String(piece.characters)}`
        : `${piece.kind} ${piece.text.length < 20 ? piece.text : String(piece.text.length)}`,
    );

  it('are the whole text, cut at the marks', () => {
    expect(kinds('abcdef')).toEqual(['plain abcdef']);
    expect(kinds('abcdef', [4, 5], [1, 2], [1, 3])).toEqual([
      'plain a',
      'marked bc',
      'plain d',
      'marked e',
      'plain f',
    ]);
    expect(kinds('abc', [3, 3])).toEqual(['plain abc', 'marked ']);
    expect(kinds('')).toEqual([]);
  });

  it('are what is around the marks of a long text, and say what is left out', () => {
    const text = 'x'.repeat(100_000);
    expect(kinds(text)).toEqual(['plain 3000', '…97000']);
    expect(kinds(text, [50_000, 50_010], [90_000, 90_001])).toEqual([
      ...['…47000', 'plain 3000', 'marked xxxxxxxxxx', 'plain 3000'],
      ...['…33990', 'plain 3000', 'marked x', 'plain 3000', '…6999'],
    ]);
  });
});

describe('a time at the airport', () => {
  it.each([
    ['2026-03-14T08:20', 'Asia/Shanghai', '2026-03-14T00:20:00.000Z'],
    ['2026-07-14T08:20', 'Europe/Berlin', '2026-07-14T06:20:00.000Z'],
    // The clock is put forward at two; put back at three, and three is after that.
    ['2026-03-29T03:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
    ['2026-10-25T03:00', 'Europe/Berlin', '2026-10-25T02:00:00.000Z'],
    ['2026-02-30T08:20', 'Asia/Shanghai', null],
    ['yesterday', 'Asia/Shanghai', null],
  ])('%s in %s is %s', (local, zone, expected) => {
    expect(momentOf(local, zone)).toBe(expected);
  });
});
