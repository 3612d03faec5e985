import { spawn, spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { VARIABLES } from '../../src/config/keys.ts';
import { loadConfig } from '../../src/config/load.ts';
import { cleanEnvironment } from '../cli/kit.ts';
import { createTestDatabase, postgresMissing } from '../kit/postgres.ts';
import { preparePipeline, type Closing } from '../kit/service-pipeline.ts';
import { commandLine } from './commands.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = join(ROOT, 'deploy/systemd');
const INSTALLED = '/opt/msgx/node_modules/msgexchange/';
const UNITS = ['msgx.service', 'msgx-verify.service', 'msgx-verify.timer'];

const read = (name: string) => readFile(join(FOLDER, name), 'utf8');
const systemd = spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' });
/** Why units cannot be judged here, or null. */
const systemdMissing = systemd.error === undefined ? null : 'systemd-analyze is not there';
const required = (process.env['MSGX_TEST_REQUIRE'] ?? '').split(',').includes('systemd');
if (systemdMissing !== null && required) throw new Error(`systemd is required: ${systemdMissing}`);

/** The settings of a unit's sections, the last of each name. */
async function settingsOf(unit: string): Promise<ReadonlyMap<string, string>> {
  const lines = (await read(unit)).matchAll(/^([A-Z]\w+)=(.*)$/gm);
  return new Map([...lines].map(([, name = '', value = '']) => [name, value]));
}

async function folder(test: Closing): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'msgx-systemd-'));
  test.onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

describe.skipIf(systemdMissing !== null)('the units, judged by systemd', () => {
  it('are understood whole', async (test) => {
    const directory = await folder(test);
    for (const unit of UNITS) {
      // The programs of a server are not here.
      const text = (await read(unit)).replaceAll('/usr/bin/node', process.execPath);
      await writeFile(join(directory, unit), text);
    }
    const { stderr, status } = spawnSync('systemd-analyze', ['verify', '--man=no', ...UNITS], {
      encoding: 'utf8',
      cwd: directory,
    });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  });

  it('a key that systemd does not know is told', async (test) => {
    const directory = await folder(test);
    const text = (await read('msgx.service')).replaceAll('/usr/bin/node', process.execPath);
    await writeFile(join(directory, 'msgx.service'), text.replace('KillMode=', 'KilMode='));
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', 'msgx.service'], {
      encoding: 'utf8',
      cwd: directory,
    });
    expect(stderr).toContain('KilMode');
  });

  it('expose little', () => {
    const { stdout, status } = spawnSync(
      'systemd-analyze',
      ['security', '--offline=true', '--threshold=20', '--no-pager', join(FOLDER, 'msgx.service')],
      { encoding: 'utf8' },
    );
    expect(status, stdout).toBe(0);
  });
});

describe('the unit of the service', () => {
  it('ends by SIGTERM with time for the 10 s, is started again, and not for a fault of the configuration', async () => {
    const settings = await settingsOf('msgx.service');
    expect(settings.get('KillSignal')).toBe('SIGTERM');
    expect(Number(settings.get('TimeoutStopSec'))).toBeGreaterThan(10);
    expect(settings.get('Restart')).toBe('always');
    expect(settings.get('RestartPreventExitStatus')).toBe('2');
    expect(settings.get('StartLimitIntervalSec')).toBe('0');
    expect(settings.get('EnvironmentFile')).toBe('/etc/msgx/msgx.env');
  });

  it.each([
    ['msgx.service', 'run'],
    ['msgx-verify.service', 'verify'],
  ])('%s starts the program of the package: %s', async (unit, command) => {
    const { bin } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      bin: { msgx: string };
    };
    expect((await settingsOf(unit)).get('ExecStart')).toBe(
      `/usr/bin/node ${INSTALLED}${bin.msgx} ${command} -c /etc/msgx/msgx.yaml`,
    );
    expect((await commandLine()).commands.map((known) => known.name())).toContain(command);
  });

  it('has an example of its configuration that msgx takes, with nothing unknown in the environment', async (test) => {
    const directory = await folder(test);
    await copyFile(join(FOLDER, 'msgx.yaml'), join(directory, 'msgx.yaml'));
    const lines = [...(await read('msgx.env')).matchAll(/^(\w+)='([^']*)'$/gm)];
    const env = Object.fromEntries(lines.map(([, name = '', value = '']) => [name, value]));
    expect(Object.keys(env)).toEqual(['MSGX_DATABASE_URL', 'MSGX_MAILBOX_URL']);
    for (const name of Object.keys(env)) expect(VARIABLES).toContain(name);
    const result = loadConfig({ file: join(directory, 'msgx.yaml'), env });
    expect(result).toMatchObject({ ok: true, warnings: [] });
    if (!result.ok) return;
    // What it writes lies in the folder that the unit gives it.
    expect((await settingsOf('msgx.service')).get('StateDirectory')).toBe('msgx');
    expect(result.config.delivery.journal.dir).toMatch(/^\/var\/lib\/msgx\//);
  });
});

describe.skipIf(postgresMissing !== null)('the command for operators', () => {
  it("reads the service's secrets and works under the operator's own name", async (test) => {
    const database = await createTestDatabase();
    const pipeline = await preparePipeline(test, { databaseUrl: database.url });
    const directory = await folder(test);
    const script = (await read('msgx'))
      .replaceAll('/etc/msgx/', `${directory}/`)
      .replaceAll(INSTALLED, ROOT)
      .replaceAll('/usr/bin/node', process.execPath);
    await writeFile(join(directory, 'msgx'), script, { mode: 0o755 });
    await copyFile(join(FOLDER, 'msgx.yaml'), join(directory, 'msgx.yaml'));
    const mailboxUrl = pipeline.mailboxSide.url;
    // A password that a shell would take apart.
    await writeFile(
      join(directory, 'msgx.env'),
      `MSGX_DATABASE_URL='${database.url}?application_name=a$b'\nMSGX_MAILBOX_URL='${mailboxUrl}'\n`,
    );
    const run = (...args: string[]) =>
      new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve, reject) => {
        const child = spawn(join(directory, 'msgx'), args, { cwd: directory, env: cleanEnvironment() });
        let [stdout, stderr] = ['', ''];
        child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
        child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
        child.on('error', reject).on('close', (code) => resolve({ code, stdout, stderr }));
      });
    const paused = await run('pause', 'pump', '--reason', 'trying the command');
    expect(paused).toMatchObject({ code: 0, stderr: '' });
    const audit = await run('audit', '--json');
    expect(audit.stdout).toContain(`"cli:${userInfo().username}"`);
    expect(audit.stdout).toContain('trying the command');
  });
});
