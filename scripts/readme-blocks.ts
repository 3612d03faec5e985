/** The blocks of code of a README, each with what its reader has to have at hand, told by a comment before it. */

export type Plan =
  /** Run to its end. */
  | { readonly kind: 'run' }
  /** The same; it ends with exit code 1, because something is still to be done. */
  | { readonly kind: 'fails' }
  /** Run until this address answers 200, then Ctrl-C. */
  | { readonly kind: 'until'; readonly url: string }
  /** A file that the reader writes. */
  | { readonly kind: 'file'; readonly name: string }
  /** Statements for the owner of a mailbox in PostgreSQL. */
  | { readonly kind: 'owner' }
  | { readonly kind: 'skip'; readonly why: string };

export interface Block {
  readonly language: string;
  readonly code: string;
  readonly plan: Plan;
}

/** The blocks in their order. Throws an Error at a comment that it does not know, and at a block that says too little. */
export function blocksOf(markdown: string): readonly Block[] {
  const found = markdown.matchAll(/(?:<!-- readme: (.+?) -->\s*)?^```(\w*)\n(.*?)^```$/gms);
  return [...found].map(([, told, language = '', code = '']) => ({
    language,
    code,
    plan: planOf(told, language, code),
  }));
}

function planOf(told: string | undefined, language: string, code: string): Plan {
  if (told === undefined && language === 'sh') return { kind: 'run' };
  const [, kind, rest = ''] = /^(\w+)(?: (.+))?$/.exec(told ?? '') ?? [];
  if (kind === 'until' && URL.canParse(rest)) return { kind, url: rest };
  if (kind === 'file' && rest !== '') return { kind, name: rest };
  if (kind === 'owner' || kind === 'fails') return { kind };
  if (kind === 'skip' && rest !== '') return { kind, why: rest };
  throw new Error(`what is to be done with this block? ${told ?? ''}\n${code}`);
}
