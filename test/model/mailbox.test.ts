import { describe, expect, it } from 'vitest';
import { MailboxModel } from './mailbox.ts';

const RULES = { maxCommitDelayMs: 30, maxHoleHoldMs: 120, mode: 'elapsed' } as const;

/** ID 1 is missing when ID 2 is committed at 0, and is committed at `late`; `held`: its writer was at work by then. */
function allowed(late: number, held: boolean, mode: 'elapsed' | 'proved' = 'elapsed') {
  const model = new MailboxModel({ ...RULES, mode });
  if (held) model.insert(1, 1n, 'a');
  model.insert(2, 2n, 'b');
  model.commit(2, 0);
  if (!held) model.insert(1, 1n, 'a');
  model.commit(1, late);
  return [model.allowed(1n), model.allowed(2n)];
}

describe('the model of the mailbox', () => {
  it('lets an ID be passed only after the time that its hole has', () => {
    expect(allowed(29, false)).toEqual(['in-order', 'in-order']);
    expect(allowed(30, false)).toEqual(['any', 'in-order']);
    expect(allowed(119, true)).toEqual(['in-order', 'in-order']);
    expect(allowed(120, true)).toEqual(['any', 'in-order']);
    expect(allowed(0, false, 'proved')).toEqual(['any', 'in-order']);
    expect(allowed(119, true, 'proved')).toEqual(['in-order', 'in-order']);
  });

  it('lets nothing be passed before a higher ID is there, and nothing end that was not committed', () => {
    const model = new MailboxModel(RULES);
    model.insert(1, 1n, 'a');
    model.insert(2, 2n, 'b');
    model.insert(3, 3n, null);
    model.commit(1, 500);
    model.rollback(2);
    expect([1n, 2n, 3n, 4n].map((id) => model.allowed(id))).toEqual(['in-order', 'never', 'never', 'never']);
    expect(model.committed()).toEqual(new Map([[1n, 'a']]));
  });
});
