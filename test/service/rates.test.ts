import { expect, test } from 'vitest';
import { Rates } from '../../src/service/rates.ts';

test('counts the work of the last minute, per station', () => {
  const rates = new Rates();
  rates.add('pump', 5);
  expect(rates.perMinute('pump')).toBe(5);
  expect(rates.perMinute('inbox')).toBe(0);
  for (let second = 0; second < 60; second++) {
    rates.sample();
    rates.add('pump', 1);
    rates.add('inbox', 2);
  }
  // The first sample was taken after the first five.
  expect(rates.perMinute('pump')).toBe(60);
  expect(rates.perMinute('inbox')).toBe(120);
  for (let second = 0; second < 61; second++) rates.sample();
  expect(rates.perMinute('pump')).toBe(0);
});
