/** `msgx bench`: the benchmark on an embedded PostgreSQL of its own; needs no configuration. */
import type { Command } from 'commander';
import { complain, print, printJson, table } from '../output.ts';
import { ExpectedFailure, addCommand, type CommonOptions } from '../shell.ts';

export function register(program: Command): void {
  addCommand(program, {
    usage: 'bench',
    description: 'measure throughput and latency against bare commits of the same run; ends within 5 minutes',
  }).action(runBench);
}

async function runBench(options: CommonOptions): Promise<void> {
  const { bench } = await import('../../benchmark/bench.ts');
  const report = await bench((step) => complain(`measuring ${step}`)).catch((error: unknown) => {
    throw new ExpectedFailure(error instanceof Error ? error.message : String(error), 1, { cause: error });
  });
  if (options.json === true) {
    printJson(report);
    return;
  }
  const { inputs, yardstick, drain, latency, rssMb } = report;
  const rows = (['process', 'full'] as const).flatMap((kind) =>
    (['b1', 'b500'] as const).map((batch) => {
      const { msgPerSecond, ratio } = drain[kind][batch];
      return [`drain.${kind}.${batch}`, Math.round(msgPerSecond), ratio.toFixed(2)];
    }),
  );
  const { p50, p99, max } = latency.at20;
  print(
    `yardstick: ${Math.round(yardstick.commitsPerSecond)} one-row commits/s`,
    ...table(['drain', 'messages/s', 'ratio'], rows),
    `latency at 20/s: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${max.toFixed(1)} ms`,
    `resident memory at most ${rssMb} MB`,
    `inputs: ${JSON.stringify(inputs)}`,
  );
}
