/** Reads deploy/container/Containerfile with the grammar of Docker's builder: its stages, copies and commands. */
import { readFileSync } from 'node:fs';
import { DockerfileParser, type Instruction, type ModifiableInstruction } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';

export interface Step {
  readonly keyword: string;
  /** As written, without flags. */
  readonly words: readonly string[];
  /** E.g. `from` of a COPY. */
  readonly flags: ReadonlyMap<string, string>;
  /** The words of the JSON form, which needs no shell; null in the other form. */
  readonly exec: readonly string[] | null;
}

export interface Stage {
  readonly image: string;
  /** Given by `AS`; null for the last one. */
  readonly name: string | null;
  readonly steps: readonly Step[];
}

export const CONTAINERFILE = new URL('../../deploy/container/Containerfile', import.meta.url);

/** What the builder would complain about, one line each. */
export function faultsOf(text: string): string[] {
  return validate(text).map(({ message, range: { start } }) => {
    const told = typeof message === 'string' ? message : message.value;
    return `line ${String(start.line + 1)}: ${told}`;
  });
}

/** The stages in their order. */
export function readStages(text = readFileSync(CONTAINERFILE, 'utf8')): readonly Stage[] {
  const stages: (Stage & { readonly steps: Step[] })[] = [];
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const step = stepOf(instruction);
    const [image = '', , name = null] = step.words;
    if (step.keyword === 'FROM') stages.push({ image, name, steps: [] });
    else stages.at(-1)?.steps.push(step);
  }
  return stages;
}

function stepOf(instruction: Instruction): Step {
  const flags = 'getFlags' in instruction ? (instruction as ModifiableInstruction).getFlags() : [];
  const content = instruction.getArgumentsContent() ?? '';
  const [, array] = /(\[.*\])\s*$/s.exec(content) ?? [];
  return {
    keyword: instruction.getKeyword(),
    words: instruction.getArguments().map((argument) => argument.getValue()),
    flags: new Map(flags.map((flag) => [flag.getName(), flag.getValue() ?? ''])),
    exec: execOf(array),
  };
}

function execOf(array: string | undefined): readonly string[] | null {
  if (array === undefined) return null;
  const words: unknown = JSON.parse(array);
  return Array.isArray(words) ? words.map(String) : null;
}
