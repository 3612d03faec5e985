import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { metricsCatalogue } from '../../src/runtime/metrics-reference.ts';
import { faultsOf, metricsIn } from './catalogue.ts';
import { alarmTable, anchorsOf } from './runbook.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The form of a file of rules, as Prometheus reads it: other keys are refused there too. */
const RULES = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      interval: z.string().optional(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Msgx[A-Za-z]+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[smh]$/)
            .optional(),
          labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
          annotations: z.strictObject({
            summary: z.string().min(1),
            description: z.string().min(1),
            runbook: z.string(),
          }),
        }),
      ),
    }),
  ),
});

const rules = RULES.parse(parse(read('deploy/prometheus/alerts.yml'))).groups.flatMap((group) => group.rules);

/** Metrics without an alarm, and why they need none. A new metric belongs here or into an alert. */
const NO_ALARM: Readonly<Record<string, string>> = {
  msgx_build_info: 'tells the version',
  msgx_watermark: 'its lag and its hole are watched',
  msgx_messages_total: 'what ends badly is watched as msgx_dead_messages',
  msgx_job_rows_total: 'how much there is to do is no fault',
  msgx_job_seconds: 'how long a job takes is no fault while it comes to its end',
  msgx_delivery_total: 'what ends badly is watched as msgx_dead_events',
};

describe('alert rules', () => {
  test.each(rules.map(({ alert, expr }) => [alert, expr]))('%s asks for metrics that exist', (_, expr) => {
    expect(faultsOf(expr)).toEqual([]);
  });

  test('every metric has an alarm, or a reason for none', () => {
    const watched = new Set(rules.flatMap(({ expr }) => metricsIn(expr)));
    const rest = metricsCatalogue().filter(({ name }) => !watched.has(name));
    expect(rest.map(({ name }) => name).sort()).toEqual(Object.keys(NO_ALARM).sort());
  });

  test('names are told once', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  test('text and labels in annotations are those that the query leaves', () => {
    for (const { expr, annotations } of rules) {
      const used = JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g);
      for (const [, label] of used) expect(expr).toMatch(new RegExp(`by \\([^)]*\\b${label ?? ''}\\b`));
    }
  });

  test("the runbook's table has each alert, in the order of the rules, with the section that the alert names", () => {
    const told = alarmTable(read('docs/runbook.md'));
    expect(told).toEqual(
      rules.map(({ alert, annotations }) => ({
        alert,
        anchor: annotations.runbook.replace('docs/runbook.md#', ''),
      })),
    );
    const anchors = anchorsOf(read('docs/runbook.md'));
    for (const { alert, anchor } of told) expect(anchors, alert).toContain(anchor);
  });
});

describe('the judgement of queries', () => {
  test.each([
    ['rate(msgx_messages_total[5m]', 'is no PromQL'],
    ['msgx_message_total', 'no metric msgx_message_total'],
    ['msgx_active{station="pump"}', 'msgx_active has no label station'],
    ['sum by (target) (msgx_active)', 'no metric here has the label target'],
    ['rate(msgx_outbox_pending[5m])', 'rate of the gauge msgx_outbox_pending'],
    ['delta(msgx_messages_total[5m])', 'delta of msgx_messages_total, which is no gauge'],
    ['msgx_process_seconds > 1', 'no metric msgx_process_seconds'],
  ])('%s is refused', (expr, fault) => {
    expect(faultsOf(expr).join('\n')).toContain(fault);
  });

  test("an upkeep job's label is read as Prometheus renames it", () => {
    expect(faultsOf('msgx_job_seconds_count{exported_job="x"}')).toEqual([]);
  });
});
