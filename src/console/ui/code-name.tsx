/** The name of a code from reference data, below the code. */
import type { ReactNode } from 'react';
import type { NameOf } from '../model/names.ts';

interface CodeNameProps {
  /** Path of the scalar, or collection and attribute. */
  readonly path: string;
  readonly code: string;
  readonly nameOf: NameOf;
}

export function CodeName({ path, code, nameOf }: CodeNameProps): ReactNode {
  const name = nameOf(path, code);
  return name === null ? null : <span className="code-name">{name}</span>;
}
