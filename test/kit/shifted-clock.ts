/**
 * Loaded into a process with `node --import`: shifts its wall clock by SHIFTED_CLOCK_MS, and with each SIGUSR2 by the next
 * of SHIFTED_CLOCK_JUMPS (ms, commas between them). Timers and the monotonic clock go on as they are, as on a host whose
 * clock is set.
 */
let shift = Number(process.env['SHIFTED_CLOCK_MS'] ?? '0');
const jumps = (process.env['SHIFTED_CLOCK_JUMPS'] ?? '').split(',').filter((jump) => jump !== '');
if (jumps.length > 0) process.on('SIGUSR2', () => (shift += Number(jumps.shift() ?? '0')));
const RealDate = Date;
const now = () => RealDate.now() + shift;

globalThis.Date = new Proxy(RealDate, {
  construct: (_target, values: unknown[]) =>
    values.length === 0 ? new RealDate(now()) : (Reflect.construct(RealDate, values) as Date),
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver): unknown => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});
