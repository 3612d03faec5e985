/** What a PromQL query names, read with Prometheus's own grammar: syntax errors, metrics, labels, functions. */
import { parser } from '@prometheus-io/lezer-promql';

export interface Selected {
  /** '' where a selector names none. */
  readonly metric: string;
  /** Labels that the selector matches on. */
  readonly labels: readonly string[];
  /** The function that takes its range, e.g. `rate`; null for an instant selector. */
  readonly rangeFunction: string | null;
}

export interface Query {
  /** Parts that are no PromQL; empty where the query is right. */
  readonly errors: readonly string[];
  readonly selected: readonly Selected[];
  /** Labels in `by`, `without`, `on`, `ignoring`, `group_left` and `group_right`. */
  readonly grouped: readonly string[];
}

/** Reads one query. */
export function readQuery(text: string): Query {
  const errors: string[] = [];
  const selected: (Selected & { readonly labels: string[] })[] = [];
  const grouped: string[] = [];
  parser.parse(text).iterate({
    enter: ({ type, name, from, to, node }) => {
      if (type.isError) errors.push(`at ${String(from)}: ${text.slice(from, from + 20)}`);
      if (name === 'VectorSelector') {
        const identifier = node.getChild('Identifier');
        selected.push({
          metric: identifier === null ? '' : text.slice(identifier.from, identifier.to),
          labels: [],
          rangeFunction: rangeFunction(text, node),
        });
      }
      if (name === 'LabelName') {
        if (node.parent?.name === 'GroupingLabels') grouped.push(text.slice(from, to));
        else selected.at(-1)?.labels.push(text.slice(from, to));
      }
    },
  });
  return { errors, selected, grouped };
}

type Node = Parameters<
  NonNullable<Parameters<ReturnType<typeof parser.parse>['iterate']>[0]['enter']>
>[0]['node'];

function rangeFunction(text: string, selector: Node): string | null {
  let ranged = false;
  for (let node = selector.parent; node !== null; node = node.parent) {
    if (node.name === 'MatrixSelector') ranged = true;
    const called = node.name === 'FunctionCall' ? node.getChild('FunctionIdentifier') : null;
    if (ranged && called !== null) return text.slice(called.from, called.to);
  }
  return null;
}
