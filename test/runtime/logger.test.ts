import { expect, test } from 'vitest';
import { createLogger, stationLogger, type Logger } from '../../src/runtime/logger.ts';

function logged(format: 'json' | 'text', level: string, use: (logger: Logger) => void): string[] {
  const lines: string[] = [];
  use(createLogger({ level, format, output: { write: (line) => void lines.push(line) } }));
  return lines;
}

test('json: one object per line, station and IDs as text', () => {
  const [line, ...rest] = logged('json', 'info', (logger) => {
    stationLogger(logger, 'pump').info({ msgId: 9_007_199_254_740_993n, ids: [1n], ratio: 0.5 }, 'processed');
    logger.debug({}, 'below the level');
  });
  expect(rest).toEqual([]);
  expect(line?.endsWith('\n')).toBe(true);
  expect(JSON.parse(line ?? '')).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as unknown,
    station: 'pump',
    msgId: '9007199254740993',
    ids: ['1'],
    ratio: 0.5,
    msg: 'processed',
  });
});

test('text: a line for people, a stack below', () => {
  const lines = logged('text', 'debug', (logger) => {
    stationLogger(logger, 'inbox').warn({ reason: 'no answer', attempt: 2, where: 'db' }, 'paused');
    logger.error({ err: new Error('boom') }, 'failed');
  });
  expect(lines[0]).toMatch(/^\d{4}-\S+Z WARN  \[inbox\] paused reason="no answer" attempt=2 where=db\n$/);
  expect(lines[1]).toMatch(/^\S+ ERROR failed\nError: boom\n {4}at /);
});

test('silent says nothing', () => {
  expect(logged('json', 'silent', (logger) => logger.fatal({}, 'x'))).toEqual([]);
});

test.each(['json', 'text'] as const)('no secret is written (%s)', (format) => {
  const text = logged(format, 'info', (logger) => {
    logger.info(
      { password: 'Geheim', sasl: { password: 'Geheim' }, request: { headers: { authorization: 'Geheim' } } },
      'a',
    );
    logger.info({ url: 'postgres://u:Geheim@h/d' }, 'cannot reach mysql://u:Geheim@h/d now');
    logger.error({ err: new Error('refused: postgres://u:Ge@heim@h/d') }, 'b');
    stationLogger(logger, 'pump').info({ token: 'Geheim' }, 'c');
  }).join('');
  expect(text).not.toMatch(/Geheim|heim@/);
  expect(text).toContain('cannot reach mysql://***@h/d now');
});
