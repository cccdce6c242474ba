/** Imported by a server before its own code: its clock is wrong by so many seconds. */
const SHIFT = Number(process.env['ORION_SHIFT_SECONDS'] ?? '0') * 1000;
const { now } = Date;

globalThis.Date = new Proxy(Date, {
  construct: (target, args: unknown[]) =>
    Reflect.construct(target, args.length === 0 ? [now() + SHIFT] : args) as Date,
});
Date.now = () => now() + SHIFT;
