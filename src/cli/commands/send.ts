/** `msgx send FILE…`: writes messages into the mailbox, all of them or none. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Dialect } from '../../dialect/port.ts';
import { printJson, print } from '../output.ts';
import { ExpectedFailure, addCommand, withConfig, type CommonOptions } from '../shell.ts';

interface SendOptions extends CommonOptions {
  readonly mailboxName?: string;
}

export function register(program: Command): void {
  addCommand(program, {
    usage: 'send <file...>',
    description: 'write message files into the mailbox, in the order given: all of them or none',
  })
    .option('--mailbox-name <database>', "the mailbox's name, where 'mailbox init' did not make it")
    .action(sendFiles);
}

async function sendFiles(files: readonly string[], options: SendOptions): Promise<void> {
  const { config } = withConfig(options);
  const { withMailbox, refuseForeign } = await import('../mailbox-access.ts');
  await withMailbox(config, async ({ mailbox, dialect }) => {
    const texts = await readTexts(files, dialect);
    await refuseForeign(mailbox, options.mailboxName);
    const ids = await mailbox.insertAll(texts);
    const sent = files.map((file, index) => ({ file, mailboxId: ids[index]?.toString() ?? null }));
    if (options.json === true) printJson(sent);
    else print(...sent.map(({ file, mailboxId }) => `${mailboxId ?? '–'}  ${file}`));
  });
}

/** Texts of all files. Throws ExpectedFailure that names every file that cannot be sent. */
async function readTexts(files: readonly string[], dialect: Dialect): Promise<readonly string[]> {
  const texts: string[] = [];
  const faults: string[] = [];
  for (const file of files) {
    const bytes = await readFile(file).catch((error: unknown) => reasonOf(error));
    if (typeof bytes === 'string') {
      faults.push(`${file}: ${bytes}`);
      continue;
    }
    const result = dialect.toText(bytes);
    if (result.text === null) faults.push(`${file}: ${result.reason} (${result.charset})`);
    else if (result.text.includes('\u0000')) faults.push(`${file}: holds a NUL, which no mailbox can keep`);
    else texts.push(result.text);
  }
  if (faults.length > 0) throw new ExpectedFailure([...faults, 'nothing was sent'], 1);
  return texts;
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
  return `cannot be read: ${code}`;
}
