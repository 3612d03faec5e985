/**
 * Loaded into a process with `node --import`: shifts its wall clock by SHIFTED_CLOCK_MS. Timers and the monotonic
 * clock go on as they are, as on a host whose clock is set wrongly.
 */
const shift = Number(process.env['SHIFTED_CLOCK_MS'] ?? '0');
const RealDate = Date;
const now = () => RealDate.now() + shift;

globalThis.Date = new Proxy(RealDate, {
  construct: (_target, values: unknown[]) =>
    values.length === 0 ? new RealDate(now()) : (Reflect.construct(RealDate, values) as Date),
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver): unknown => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});
