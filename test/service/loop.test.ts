import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import type { Log } from '../../src/runtime/log.ts';
import { LostLease, Outage } from '../../src/runtime/outage.ts';
import { AGAIN, REST, restUntil, type Round } from '../../src/runtime/station.ts';
import { StationLoop, type LoopOptions } from '../../src/service/loop.ts';

class Fatal extends Error {}

describe('station loop', () => {
  const clock: Clock = { now: () => Date.now() };
  let lines: string[];
  let pause: { by: string; reason: string; since: number } | null;
  let lost: number;
  let loops: StationLoop[];

  beforeEach(() => {
    vi.useFakeTimers();
    vi.setSystemTime(1_000);
    lines = [];
    pause = null;
    lost = 0;
    loops = [];
  });

  afterEach(async () => {
    const stopping = loops.map((loop) => loop.stop());
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all(stopping);
    vi.useRealTimers();
  });

  function start(round: () => Promise<Round>, overrides: Partial<LoopOptions> = {}): StationLoop {
    const say = (level: string) => (_fields: object, message: string) =>
      void lines.push(`${level} ${message}`);
    const log: Log = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
    const loop = new StationLoop({
      name: 'pump',
      round,
      intervalMs: 500,
      clock,
      log,
      paused: () => pause,
      onLost: () => (lost += 1),
      isFatal: (error) => error instanceof Fatal,
      ...overrides,
    });
    loops.push(loop);
    loop.start();
    return loop;
  }

  /** Lets time pass. */
  async function pass(milliseconds: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(milliseconds);
  }

  it('goes on at once while there is more, then rests for the interval', async () => {
    const rounds: Round[] = [AGAIN, AGAIN, REST];
    const round = vi.fn(async () => rounds.shift() ?? REST);
    const loop = start(round);
    await pass(0);
    expect(round).toHaveBeenCalledTimes(3);
    expect(loop.state.state).toBe('running');
    await pass(499);
    expect(round).toHaveBeenCalledTimes(3);
    await pass(1);
    expect(round).toHaveBeenCalledTimes(4);
    expect(lines).toEqual(['info station started']);
  });

  it('rests until a moment, but never longer than the interval', async () => {
    const round = vi.fn(async () => restUntil(1_200));
    start(round);
    await pass(199);
    expect(round).toHaveBeenCalledTimes(1);
    const far = vi.fn(async () => restUntil(1_000_000));
    start(far);
    await pass(500);
    expect(far).toHaveBeenCalledTimes(2);
  });

  it('is woken from its rest, and remembers a wake-up that came during a round', async () => {
    let finish: (round: Round) => void = () => undefined;
    const round = vi.fn(() => new Promise<Round>((resolve) => (finish = resolve)));
    const loop = start(round);
    await pass(0);
    loop.wake();
    finish(REST);
    await pass(0);
    expect(round).toHaveBeenCalledTimes(2);
    finish(REST);
    await pass(100);
    expect(round).toHaveBeenCalledTimes(2);
    loop.wake();
    await pass(0);
    expect(round).toHaveBeenCalledTimes(3);
    finish(REST);
  });

  it('backs off in an outage up to 5 s, says each change of state once, and goes on', async () => {
    let down = true;
    const at: number[] = [];
    const loop = start(async () => {
      at.push(clock.now());
      if (down) throw new Outage('mailbox', new Error(`refused ${at.length}`));
      return REST;
    });
    for (let turn = 0; turn < 400; turn++) await pass(50);
    const waits = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    expect(waits.slice(0, 7)).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    expect(loop.state).toMatchObject({ state: 'outage', since: 1_000 });
    // The newest reason, the first time.
    expect(loop.state).toMatchObject({ reason: expect.stringContaining(`refused ${at.length}`) as string });
    expect(lines).toEqual(['warn station paused: a dependency is not available']);
    down = false;
    for (let turn = 0; turn < 110; turn++) await pass(50);
    expect(loop.state.state).toBe('running');
    expect(lines).toEqual(['warn station paused: a dependency is not available', 'info station goes on']);
    // The next outage begins with the short pause again.
    down = true;
    at.length = 0;
    for (let turn = 0; turn < 40; turn++) await pass(50);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBe(250);
  });

  it('is not woken out of an outage', async () => {
    const round = vi.fn(async (): Promise<Round> => {
      throw new Outage('database', new Error('gone'));
    });
    const loop = start(round);
    await pass(0);
    for (let turn = 0; turn < 20; turn++) loop.wake();
    await pass(249);
    expect(round).toHaveBeenCalledTimes(1);
    await pass(1);
    expect(round).toHaveBeenCalledTimes(2);
  });

  it('an unexpected error is logged with its stack, backs off too and is no end', async () => {
    let broken = true;
    const loop = start(async () => {
      if (broken) throw new TypeError('ours');
      return REST;
    });
    await pass(0);
    expect(lines).toEqual([
      'error unexpected error in a round',
      'warn station paused: a dependency is not available',
    ]);
    broken = false;
    await pass(250);
    expect(loop.state.state).toBe('running');
  });

  it('is paused by an operator between rounds and goes on when resumed', async () => {
    const round = vi.fn(async () => REST);
    pause = { by: 'ann', reason: 'inventory', since: 900 };
    const loop = start(round);
    await pass(1_000);
    expect(round).not.toHaveBeenCalled();
    expect(loop.state).toEqual({ state: 'paused', by: 'ann', reason: 'inventory', since: 900 });
    loop.wake();
    await pass(0);
    expect(round).not.toHaveBeenCalled();
    pause = null;
    await pass(200);
    expect(round).toHaveBeenCalledTimes(1);
    expect(lines).toEqual(['info station paused by an operator', 'info station goes on']);
  });

  it('stop ends a rest, a pause and an outage at once', async () => {
    const resting = start(async () => REST, { intervalMs: 3_600_000 });
    const failing = start(async () => {
      throw new Outage('mailbox', new Error('x'));
    });
    await pass(0);
    pause = { by: 'ann', reason: 'x', since: 0 };
    const paused = start(async () => REST);
    await pass(0);
    const stopped = Promise.all([resting.stop(), failing.stop(), paused.stop()]);
    await pass(0);
    await stopped;
    for (const loop of loops) expect(loop.state).toMatchObject({ state: 'stopped', reason: 'stopped' });
  });

  it('stop waits for the round that runs and begins no other', async () => {
    let finish: (round: Round) => void = () => undefined;
    const round = vi.fn(() => new Promise<Round>((resolve) => (finish = resolve)));
    const loop = start(round);
    await pass(0);
    let stopped = false;
    const stopping = loop.stop().then(() => (stopped = true));
    await pass(5_000);
    expect(stopped).toBe(false);
    finish(AGAIN);
    await stopping;
    expect(round).toHaveBeenCalledTimes(1);
  });

  it('ends for good when the lease is lost, and tells it', async () => {
    const round = vi.fn(async (): Promise<Round> => {
      throw new LostLease();
    });
    const loop = start(round);
    await pass(60_000);
    expect(round).toHaveBeenCalledTimes(1);
    expect(lost).toBe(1);
    expect(loop.state).toMatchObject({
      state: 'stopped',
      reason: 'the lease has passed to another instance',
    });
  });

  it('ends for good at a fatal error, with its reason', async () => {
    const round = vi.fn(async (): Promise<Round> => {
      throw new Fatal('IDs have started again');
    });
    const loop = start(round);
    await pass(60_000);
    expect(round).toHaveBeenCalledTimes(1);
    expect(lost).toBe(0);
    expect(loop.state).toMatchObject({ state: 'stopped', reason: 'IDs have started again' });
  });

  it('beats while it rests, however long, and not while a round hangs', async () => {
    const now = vi.spyOn(performance, 'now');
    now.mockReturnValue(1_000);
    const resting = start(async () => REST, { intervalMs: 3_600_000 });
    const hanging = start(() => new Promise<Round>(() => undefined));
    await pass(0);
    now.mockReturnValue(500_000);
    expect(resting.beat).toBe(500_000);
    expect(hanging.beat).toBe(1_000);
    now.mockRestore();
    loops = [resting];
  });
});
