import { afterEach, expect, test, vi } from 'vitest';
import { untilSignal } from '../../src/cli/shell.ts';

const before = { SIGINT: process.listeners('SIGINT'), SIGTERM: process.listeners('SIGTERM') };

afterEach(() => {
  vi.restoreAllMocks();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    for (const listener of process.listeners(signal)) {
      if (!before[signal].includes(listener)) process.off(signal, listener);
    }
  }
});

test('the first signal is told; the same key press sent twice changes nothing; impatience ends at once', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const signal = untilSignal();
  // Only our own listeners: the test runner has its own.
  const send = (name: 'SIGINT' | 'SIGTERM') => {
    for (const listener of process.listeners(name)) if (!before[name].includes(listener)) listener(name);
  };
  send('SIGTERM');
  expect(await signal).toBe('SIGTERM');
  now.mockReturnValue(500);
  send('SIGINT');
  expect(exit).not.toHaveBeenCalled();
  now.mockReturnValue(1_501);
  send('SIGINT');
  expect(exit).toHaveBeenCalledWith(1);
});
