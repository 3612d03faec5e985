/** Waiting no longer than a deadline. */

/** The deadline has passed; the work itself may still run. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** What `work` gives, or DeadlinePassed after `millis`. */
export async function within<T>(millis: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DeadlinePassed(`no answer within ${String(millis)} ms`)), millis);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
    // Where the deadline came first, nobody is left to hear how the work ends.
    work.catch(() => undefined);
  }
}
