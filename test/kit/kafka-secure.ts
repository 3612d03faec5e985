/** A listener with TLS, SASL and rights beside the plain one, for the sink's configuration of them. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  AclOperations,
  AclPermissionTypes,
  Admin,
  ResourcePatternTypes,
  ResourceTypes,
} from '@platformatic/kafka';
import type { KafkaOptions } from '../../scripts/kafka.ts';
import type { KafkaSinkOptions } from '../../src/delivery/sinks/kafka-options.ts';
import { freePorts } from './kafka.ts';

const run = promisify(execFile);

const USER = 'msgx';
const PASSWORD = 'not-a-secret';
const STORE = ['-storetype', 'PKCS12', '-storepass', PASSWORD, '-alias', 'kafka'];

export class SecureListener {
  /** For the broker: plain connections may do everything, secure ones what they are granted. */
  readonly options: Pick<KafkaOptions, 'settings' | 'listeners' | 'scram'>;
  readonly #directory: string;
  readonly #port: number;
  readonly #certificate: string;

  private constructor(directory: string, port: number, certificate: string) {
    this.#directory = directory;
    this.#port = port;
    this.#certificate = certificate;
    const login = 'org.apache.kafka.common.security';
    const own = 'listener.name.secure';
    this.options = {
      listeners: [{ name: 'SECURE', protocol: 'SASL_SSL', port }],
      scram: ['SCRAM-SHA-256', 'SCRAM-SHA-512'].map(
        (mechanism) => `${mechanism}=[name=${USER},password=${PASSWORD}]`,
      ),
      settings: {
        'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
        'super.users': 'User:ANONYMOUS',
        [`${own}.ssl.keystore.type`]: 'PKCS12',
        [`${own}.ssl.keystore.location`]: join(directory, 'keys.p12'),
        [`${own}.ssl.keystore.password`]: PASSWORD,
        [`${own}.sasl.enabled.mechanisms`]: 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
        [`${own}.plain.sasl.jaas.config`]: `${login}.plain.PlainLoginModule required user_${USER}="${PASSWORD}";`,
        [`${own}.scram-sha-256.sasl.jaas.config`]: `${login}.scram.ScramLoginModule required;`,
        [`${own}.scram-sha-512.sasl.jaas.config`]: `${login}.scram.ScramLoginModule required;`,
      },
    };
  }

  static async create(): Promise<SecureListener> {
    const directory = await mkdtemp(join(tmpdir(), 'msgx-kafka-keys-'));
    const store = ['-keystore', join(directory, 'keys.p12'), ...STORE];
    const subject = ['-dname', 'CN=127.0.0.1', '-ext', 'SAN=ip:127.0.0.1', '-validity', '30'];
    await run('keytool', ['-genkeypair', '-keyalg', 'RSA', '-keysize', '2048', ...subject, ...store]);
    const { stdout } = await run('keytool', ['-exportcert', '-rfc', ...store]);
    const [port = 0] = await freePorts(1);
    return new SecureListener(directory, port, stdout);
  }

  /** How a sink connects here. */
  connection(
    mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512',
  ): Pick<KafkaSinkOptions, 'brokers' | 'tls' | 'sasl'> {
    return {
      brokers: [`127.0.0.1:${String(this.#port)}`],
      tls: { ca: this.#certificate },
      sasl: { mechanism, username: USER, password: PASSWORD },
    };
  }

  /** Grants what the documentation says that a sink needs on topics that exist. */
  async grant(broker: string, { topics, transactionalId }: KafkaSinkOptions): Promise<void> {
    const admin = new Admin({ clientId: 'grant', bootstrapBrokers: [broker] });
    const write = (resourceType: 2 | 5, resourceName: string) => ({
      resourceType,
      resourceName,
      resourcePatternType: ResourcePatternTypes.LITERAL,
      principal: `User:${USER}`,
      host: '*',
      operation: AclOperations.WRITE,
      permissionType: AclPermissionTypes.ALLOW,
    });
    await admin.createAcls({
      creations: [
        write(ResourceTypes.TOPIC, topics.msg),
        write(ResourceTypes.TOPIC, topics.schd),
        write(ResourceTypes.TRANSACTIONAL_ID, transactionalId),
      ],
    });
    await admin.close();
  }

  async dispose(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}
