import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { metricsCatalogue } from '../../src/runtime/metrics-reference.ts';
import { faultsOf, metricsIn } from './catalogue.ts';

const DASHBOARD = z.object({
  uid: z.literal('msgx'),
  panels: z.array(
    z.object({
      id: z.number().int(),
      title: z.string().min(1),
      gridPos: z.object({ h: z.number(), w: z.number(), x: z.number(), y: z.number() }),
      targets: z
        .array(z.object({ refId: z.string(), expr: z.string(), legendFormat: z.string().min(1) }))
        .default([]),
    }),
  ),
});

const file = new URL('../../deploy/grafana/msgx.json', import.meta.url);
const { panels } = DASHBOARD.parse(JSON.parse(readFileSync(file, 'utf8')));
const targets = panels.flatMap(({ title, targets }) => targets.map((target) => ({ title, ...target })));

describe('the dashboard', () => {
  test.each(targets.map(({ title, refId, expr }) => [`${title} ${refId}`, expr]))(
    '%s asks for metrics that exist',
    (_, expr) => {
      expect(faultsOf(expr)).toEqual([]);
    },
  );

  test('legends name labels that the query leaves', () => {
    for (const { title, expr, legendFormat } of targets) {
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
        expect(expr, title).toMatch(new RegExp(`by \\([^)]*\\b${label ?? ''}\\b`));
      }
    }
  });

  test('shows every metric', () => {
    const shown = new Set(targets.flatMap(({ expr }) => metricsIn(expr)));
    expect(
      metricsCatalogue()
        .map(({ name }) => name)
        .filter((name) => !shown.has(name)),
    ).toEqual([]);
  });

  test('panels do not lie over each other', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from(
        { length: h * w },
        (_, cell) => `${String(x + (cell % w))}/${String(y + Math.floor(cell / w))}`,
      ),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
  });
});
