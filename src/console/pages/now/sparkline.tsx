/** The rate of the last two minutes as a small line, from zero, newest at the right. */
import type { ReactNode } from 'react';
import { HISTORY_LENGTH } from '../../model/live-state.ts';

const WIDTH = 120;
const HEIGHT = 26;
/** Samples the width stands for at least. */
const FEWEST = 30;

interface SparklineProps {
  readonly values: readonly number[];
  readonly title: string;
}

export function Sparkline({ values, title }: SparklineProps): ReactNode {
  const peak = Math.max(1, ...values);
  // A page just opened spreads what little it has seen, instead of a dot in a corner.
  const step = WIDTH / (Math.max(FEWEST, Math.min(values.length, HISTORY_LENGTH)) - 1);
  const left = WIDTH - (values.length - 1) * step;
  const points = values.map((value, index) => {
    const x = left + index * step;
    const y = HEIGHT - 2 - (value / peak) * (HEIGHT - 5);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const last = points.at(-1)?.split(',') ?? ['0', String(HEIGHT)];
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
      role="img"
      preserveAspectRatio="none"
    >
      <title>{title}</title>
      <path className="base" d={`M0 ${String(HEIGHT - 1.5)}H${String(WIDTH)}`} />
      {points.length > 1 && (
        <>
          <path
            className="area"
            d={`M${left.toFixed(1)},${String(HEIGHT)}L${points.join('L')}L${String(WIDTH)},${String(HEIGHT)}Z`}
          />
          <path className="stroke" d={`M${points.join('L')}`} />
        </>
      )}
      <circle className="dot" cx={last[0]} cy={last[1]} r="1.6" />
    </svg>
  );
}
